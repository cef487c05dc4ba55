package kafka

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/IBM/sarama"
)

// properties are the table's properties.*, without the prefix: Kafka client settings by Kafka's own names. Those that
// have no meaning here (serializers, buffer sizes of the Java client) are accepted without effect.
type properties map[string]string

func (p properties) group() string   { return p["group.id"] }
func (p properties) servers() string { return p["bootstrap.servers"] }

func (p properties) addresses() []string {
	var as []string
	for _, a := range strings.Split(p.servers(), ",") {
		if a = strings.TrimSpace(a); a != "" {
			as = append(as, a)
		}
	}
	return as
}

// readCommitted says whether rows of open and aborted transactions are left out.
func (p properties) readCommitted() bool {
	return strings.EqualFold(strings.TrimSpace(p["isolation.level"]), "read_committed")
}

// plain says that connections are neither encrypted nor authenticated, as those of the embedded broker.
func (p properties) plain() bool {
	v := strings.ToUpper(p["security.protocol"])
	return v == "" || v == "PLAINTEXT"
}

// int gives a whole-number setting, def when it is not set.
func (p properties) int(key string, def, min, max int64) (int64, error) {
	v, ok := p[key]
	if !ok {
		return def, nil
	}
	n, err := strconv.ParseInt(strings.TrimSpace(v), 10, 64)
	if err != nil || n < min || n > max {
		return 0, fmt.Errorf("Could not parse value '%s' for key '%s%s'.: a whole number from %d to %d is expected", v, propertyPrefix, key, min, max)
	}
	return n, nil
}

func (p properties) millis(key string, def time.Duration) (time.Duration, error) {
	n, err := p.int(key, def.Milliseconds(), 1, 1<<31-1)
	return time.Duration(n) * time.Millisecond, err
}

// oneOf checks a setting that is one of a few words.
func (p properties) oneOf(key string, words ...string) error {
	v, ok := p[key]
	if !ok {
		return nil
	}
	for _, w := range words {
		if strings.EqualFold(strings.TrimSpace(v), w) {
			return nil
		}
	}
	return fmt.Errorf("Could not parse value '%s' for key '%s%s'.: one of %s is expected", v, propertyPrefix, key, strings.Join(words, ", "))
}

// check reports wrong values without opening anything.
func (p properties) check() error {
	if len(p.addresses()) == 0 {
		return fmt.Errorf("No broker address in '%s'.", optServers.Key)
	}
	for _, a := range p.addresses() {
		if i := strings.LastIndexByte(a, ':'); i <= 0 || i == len(a)-1 {
			return fmt.Errorf("Invalid broker address '%s' in '%s': host:port is expected.", a, optServers.Key)
		}
	}
	for key, words := range map[string][]string{
		"isolation.level":   {"read_committed", "read_uncommitted"},
		"auto.offset.reset": {"earliest", "latest", "none"},
		"compression.type":  {"none", "gzip", "snappy", "lz4", "zstd"},
		"acks":              {"0", "1", "-1", "all"},
		"security.protocol": {"PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"},
		"sasl.mechanism":    {"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"},
	} {
		if err := p.oneOf(key, words...); err != nil {
			return err
		}
	}
	_, err := p.config(true)
	return err
}

// reset gives auto.offset.reset, "" when it is not set.
func (p properties) reset() string { return strings.ToLower(strings.TrimSpace(p["auto.offset.reset"])) }

// codec gives compression.type.
func (p properties) codec() sarama.CompressionCodec {
	switch strings.ToLower(strings.TrimSpace(p["compression.type"])) {
	case "gzip":
		return sarama.CompressionGZIP
	case "snappy":
		return sarama.CompressionSnappy
	case "lz4":
		return sarama.CompressionLZ4
	case "zstd":
		return sarama.CompressionZSTD
	}
	return sarama.CompressionNone
}

// acks gives the acknowledgement that a write waits for.
func (p properties) acks() sarama.RequiredAcks {
	switch strings.TrimSpace(p["acks"]) {
	case "0":
		return sarama.NoResponse
	case "1":
		return sarama.WaitForLocal
	}
	return sarama.WaitForAll
}

// config makes sarama's settings. create allows the broker to create a topic that is asked for.
func (p properties) config(create bool) (*sarama.Config, error) {
	c := sarama.NewConfig()
	c.Version = sarama.V3_6_0_0
	c.ClientID = "runnel"
	if id := p["client.id"]; id != "" {
		c.ClientID = id
	}
	c.Metadata.Full = false
	c.Metadata.AllowAutoTopicCreation = create
	c.Metadata.Retry.Max = 5
	c.Metadata.Retry.Backoff = 100 * time.Millisecond
	c.Producer.MaxMessageBytes = int(sarama.MaxRequestSize)
	timeout, err := p.millis("request.timeout.ms", 30*time.Second)
	if err != nil {
		return nil, err
	}
	c.Net.ReadTimeout, c.Net.WriteTimeout = timeout, timeout
	age, err := p.millis("metadata.max.age.ms", 5*time.Minute)
	if err != nil {
		return nil, err
	}
	c.Metadata.RefreshFrequency = age
	if err := p.security(c); err != nil {
		return nil, err
	}
	return c, c.Validate()
}

// security reads security.protocol, sasl.* and ssl.*.
func (p properties) security(c *sarama.Config) error {
	protocol := strings.ToUpper(p["security.protocol"])
	if strings.HasSuffix(protocol, "SSL") {
		t, err := p.tls()
		if err != nil {
			return err
		}
		c.Net.TLS.Enable, c.Net.TLS.Config = true, t
	}
	if !strings.HasPrefix(protocol, "SASL_") {
		return nil
	}
	c.Net.SASL.Enable = true
	switch m := strings.ToUpper(p["sasl.mechanism"]); m {
	case "PLAIN":
		c.Net.SASL.Mechanism = sarama.SASLTypePlaintext
	case "SCRAM-SHA-256", "SCRAM-SHA-512":
		c.Net.SASL.Mechanism = sarama.SASLMechanism(m)
		c.Net.SASL.SCRAMClientGeneratorFunc = func() sarama.SCRAMClient { return &scram{wide: m == "SCRAM-SHA-512"} }
	default:
		return fmt.Errorf("'%ssasl.mechanism' is required with '%ssecurity.protocol' = '%s': PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512.", propertyPrefix, propertyPrefix, protocol)
	}
	user, password := jaasUser.FindStringSubmatch(p["sasl.jaas.config"]), jaasPassword.FindStringSubmatch(p["sasl.jaas.config"])
	if user == nil || password == nil {
		return fmt.Errorf(`'%ssasl.jaas.config' must name a login module with username="..." and password="...".`, propertyPrefix)
	}
	c.Net.SASL.User, c.Net.SASL.Password = user[1], password[1]
	return nil
}

var (
	jaasUser     = regexp.MustCompile(`\busername\s*=\s*["']?([^"';\s]+)`)
	jaasPassword = regexp.MustCompile(`\bpassword\s*=\s*["']([^"']*)["']`)
)

// tls reads ssl.*: PEM files only, Java key stores are refused by name.
func (p properties) tls() (*tls.Config, error) {
	for _, k := range []string{"ssl.truststore.type", "ssl.keystore.type"} {
		if v := strings.ToUpper(p[k]); v != "" && v != "PEM" {
			return nil, fmt.Errorf("'%s%s' = '%s' is not supported: convert the store to PEM.", propertyPrefix, k, p[k])
		}
	}
	t := &tls.Config{MinVersion: tls.VersionTLS12}
	if v, ok := p["ssl.endpoint.identification.algorithm"]; ok && v == "" {
		t.InsecureSkipVerify = true
	}
	if f := p["ssl.truststore.location"]; f != "" {
		text, err := os.ReadFile(f)
		if err != nil {
			return nil, fmt.Errorf("trust store of '%sssl.truststore.location': %w", propertyPrefix, err)
		}
		t.RootCAs = x509.NewCertPool()
		if !t.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("trust store '%s' of '%sssl.truststore.location' holds no certificate in PEM form.", f, propertyPrefix)
		}
	}
	if f := p["ssl.keystore.location"]; f != "" {
		text, err := os.ReadFile(f)
		if err != nil {
			return nil, fmt.Errorf("key store of '%sssl.keystore.location': %w", propertyPrefix, err)
		}
		cert, err := keyPair(text)
		if err != nil {
			return nil, fmt.Errorf("key store '%s' of '%sssl.keystore.location': %w", f, propertyPrefix, err)
		}
		t.Certificates = []tls.Certificate{cert}
	}
	return t, nil
}

// keyPair splits one PEM text into certificates and key.
func keyPair(text []byte) (tls.Certificate, error) {
	var certs, key []byte
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type == "CERTIFICATE" {
			certs = append(certs, pem.EncodeToMemory(block)...)
		} else {
			key = append(key, pem.EncodeToMemory(block)...)
		}
	}
	return tls.X509KeyPair(certs, key)
}
