package kafka

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"runnel/connectors"
	"runnel/types"
)

// TestLogin logs in with each mechanism, and with a wrong password.
func TestLogin(t *testing.T) {
	for _, mechanism := range []string{"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"} {
		t.Run(mechanism, func(t *testing.T) {
			c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.DataDir(t.TempDir()), kfake.AllowAutoTopicCreation(), kfake.DefaultNumPartitions(1),
				kfake.EnableSASL(), kfake.Superuser(mechanism, "ann,=", "pa$$ word"))
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			r := &rig{t: t, dir: t.TempDir(), servers: c.ListenAddrs()[0]}
			r.open()
			login := func(password string) *connectors.Table {
				return r.table("x", []string{"a INT"}, "properties.security.protocol", "SASL_PLAINTEXT", "properties.sasl.mechanism", mechanism,
					"properties.sasl.jaas.config", `org.apache.kafka.common.security.scram.ScramLoginModule required username="ann,=" password="`+password+`";`,
					"scan.startup.mode", "earliest-offset", "scan.bounded.mode", "latest-offset")
			}
			tab := login("pa$$ word")
			r.writeRows(tab, "1", "2")
			r.want(r.scan(tab, all(tab)).mustRead(-1), "+I 1", "+I 2")
			if mechanism != "SCRAM-SHA-256" {
				return // the wait for a better answer is the same for all
			}
			wrong := login("guess")
			if s := r.scan(wrong, all(wrong)); s.err == nil {
				t.Error("a wrong password was taken")
			}
		})
	}
}

// TestTLS reads over an encrypted connection whose certificate is known, and refuses one that is not.
func TestTLS(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	self := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "broker"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, self, self, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	store := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(store, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.DataDir(t.TempDir()), kfake.AllowAutoTopicCreation(), kfake.DefaultNumPartitions(1),
		kfake.TLS(&tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r := &rig{t: t, dir: t.TempDir(), servers: c.ListenAddrs()[0]}
	r.open()
	tab := r.table("x", []string{"a INT"}, "properties.security.protocol", "SSL", "properties.ssl.truststore.location", store, "properties.ssl.truststore.type", "PEM",
		"scan.startup.mode", "earliest-offset", "scan.bounded.mode", "latest-offset")
	r.writeRows(tab, "1", "2")
	r.want(r.scan(tab, all(tab)).mustRead(-1), "+I 1", "+I 2")
	stranger := r.table("x", []string{"a INT"}, "properties.security.protocol", "SSL", "scan.startup.mode", "earliest-offset")
	if s := r.scan(stranger, all(stranger)); s.err == nil || !strings.Contains(s.err.Error(), "certificate") {
		t.Errorf("error %v", s.err)
	}
}

// TestFormatMetadata reads a metadata column that the value format offers.
func TestFormatMetadata(t *testing.T) {
	r := newRig(t)
	topic := r.newTopic(1)
	r.writeRows(r.table(topic, []string{"a STRING"}), "one", "seven")
	f := textFormat("measured", types.InsertOnly)
	f.Metadata = []connectors.Metadata{{Key: "length", Type: types.Of(types.Int), Readable: true}}
	f.Decoder = func(req connectors.FormatRequest) (connectors.Decoder, error) {
		return measuring{textDecoder{req.Fields, false}, len(req.Fields), len(req.Metadata)}, nil
	}
	k := New(Config{Formats: []connectors.Format{f}, Dir: r.dir + "/broker", Embedded: EmbeddedAllowed, Addresses: []string{"localhost:0"}})
	defer k.Close()
	reading := &rig{t: t, k: k, servers: r.servers}
	tab := reading.table(topic, []string{"n INT METADATA value.length", "o BIGINT METADATA offset", "a STRING"}, "format", "measured",
		"scan.startup.mode", "earliest-offset", "scan.bounded.mode", "latest-offset")
	r.want(reading.scan(tab, all(tab)).mustRead(-1), "+I 3|0|one", "+I 5|1|seven")
	if m := k.metadata(tab); m[0].Key != "value.length" {
		t.Errorf("metadata %v", m)
	}
}

// measuring gives the length of messages as metadata.
type measuring struct {
	textDecoder
	fields, metadata int
}

func (m measuring) Decode(msg []byte, out *types.Batch) error {
	if err := m.textDecoder.Decode(msg, out); err != nil {
		return err
	}
	for i := range m.metadata {
		out.Cols[m.fields+i].AppendInt(int64(len(msg)))
	}
	return nil
}
