package kafka

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/IBM/sarama"
)

// probeTimeout bounds the look whether a broker answers, name look-up included.
const probeTimeout = 300 * time.Millisecond

// choice says once and for all who serves an address of this data directory.
type choice struct {
	Broker string    `json:"broker"` // "embedded" or "real"
	At     time.Time `json:"chosen"`
}

const (
	embeddedBroker = "embedded"
	realBroker     = "real"
)

// choose says whether the embedded broker stands for the table's addresses. The answer is made once for each address,
// stored beside the broker's data, and holds even if a broker comes or goes later.
func (k *Kafka) choose(ctx context.Context, props properties) (bool, error) {
	addrs := props.addresses()
	if !props.plain() || !k.standsFor(addrs) {
		return false, nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, a := range addrs {
		if e, ok := k.chosen[a]; ok {
			return e, nil
		}
	}
	stored, err := k.readChoices()
	if err != nil {
		return false, err
	}
	for _, a := range addrs {
		if c, ok := stored[a]; ok {
			return k.useChoice(a, c)
		}
	}
	if probe(ctx, addrs) {
		return false, k.storeChoice(stored, addrs, realBroker)
	}
	if err := ctx.Err(); err != nil {
		return false, err
	}
	if k.cfg.Embedded != EmbeddedAllowed && k.host.running() == "" {
		return false, k.nobody(props)
	}
	if err := k.storeChoice(stored, addrs, embeddedBroker); err != nil {
		return false, err
	}
	return true, nil
}

// standsFor says whether all addresses are those that the embedded broker may serve.
func (k *Kafka) standsFor(addrs []string) bool {
	return k.cfg.Dir != "" && !slices.ContainsFunc(addrs, func(a string) bool { return !slices.Contains(k.cfg.Addresses, a) })
}

// useChoice goes by a stored choice.
func (k *Kafka) useChoice(addr string, c choice) (bool, error) {
	e := c.Broker == embeddedBroker
	if e && k.cfg.Embedded != EmbeddedAllowed && k.host.running() == "" {
		return false, fmt.Errorf("%s is the embedded broker of %s, which is not running%s", addr, k.cfg.Dir, k.howToAsk())
	}
	k.chosen[addr] = e
	if e {
		k.cfg.Notice(fmt.Sprintf("Kafka at %s is the embedded broker with the topics in %s.", addr, k.cfg.Dir))
	}
	return e, nil
}

func (k *Kafka) nobody(props properties) error {
	return fmt.Errorf("no broker answers at %s%s", props.servers(), k.howToAsk())
}

func (k *Kafka) howToAsk() string {
	if k.cfg.Embedded == EmbeddedNever || k.cfg.HowToAsk == "" {
		return ""
	}
	return "; for an embedded broker, " + k.cfg.HowToAsk
}

// probe says whether something answers at one of the addresses.
func probe(ctx context.Context, addrs []string) bool {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	answers := make(chan bool, len(addrs))
	for _, a := range addrs {
		go func() {
			conn, err := new(net.Dialer).DialContext(ctx, "tcp", a)
			if err == nil {
				conn.Close()
			}
			answers <- err == nil
		}()
	}
	for range addrs {
		select {
		case ok := <-answers:
			if ok {
				return true
			}
		case <-ctx.Done():
			return false
		}
	}
	return false
}

func (k *Kafka) choicePath() string { return filepath.Join(k.cfg.Dir, "choices.json") }

func (k *Kafka) readChoices() (map[string]choice, error) {
	m := map[string]choice{}
	text, err := os.ReadFile(k.choicePath())
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err != nil {
		return nil, fmt.Errorf("choice of brokers in %s: %w", k.choicePath(), err)
	}
	return m, nil
}

// storeChoice makes the choice durable, then tells it. k.mu is held.
func (k *Kafka) storeChoice(stored map[string]choice, addrs []string, broker string) error {
	for _, a := range addrs {
		stored[a] = choice{Broker: broker, At: time.Now().UTC().Truncate(time.Second)}
	}
	text, err := json.MarshalIndent(stored, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(k.cfg.Dir, 0o755); err != nil {
		return fmt.Errorf("directory of the embedded broker: %w", err)
	}
	if err := writeFile(k.choicePath(), text); err != nil {
		return fmt.Errorf("choice of brokers: %w", err)
	}
	at := strings.Join(addrs, ", ")
	for _, a := range addrs {
		k.chosen[a] = broker == embeddedBroker
	}
	if broker == embeddedBroker {
		k.cfg.Notice(fmt.Sprintf("No broker answers at %s: an embedded one with the topics in %s stands for it from now on.", at, k.cfg.Dir))
	} else {
		k.cfg.Notice(fmt.Sprintf("Kafka at %s is the broker that answers there (remembered in %s).", at, k.choicePath()))
	}
	return nil
}

// writeFile replaces a small file whole or not at all, durably.
func writeFile(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	return err
}

// clusterOf asks whoever listens at addr for its cluster id, "" when it does not speak Kafka.
func clusterOf(addr string) string {
	c := sarama.NewConfig()
	c.Version = sarama.V3_6_0_0
	c.Net.DialTimeout, c.Net.ReadTimeout, c.Net.WriteTimeout = time.Second, time.Second, time.Second
	b := sarama.NewBroker(addr)
	if b.Open(c) != nil {
		return ""
	}
	defer b.Close()
	r, err := b.DescribeCluster(sarama.NewDescribeClusterRequest(c.Version))
	if err != nil {
		return ""
	}
	return r.ClusterID
}
