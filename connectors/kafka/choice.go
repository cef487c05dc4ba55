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

	"runnel/connectors"
)

// probeTimeout bounds the look whether a broker answers, name look-up included.
const probeTimeout = 300 * time.Millisecond

// choice says once and for all who serves an address of this data directory.
type choice struct {
	Broker string    `json:"broker"` // "embedded", "elsewhere" or "real"
	Via    string    `json:"via,omitempty"`
	At     time.Time `json:"chosen"`
}

const (
	embeddedBroker  = "embedded"  // of this directory
	elsewhereBroker = "elsewhere" // an embedded one of another directory, which listens at Via
	realBroker      = "real"
)

// embedded says that the broker has the embedded broker's ways, wherever it runs.
func (c choice) embedded() bool { return c.Broker != realBroker }

// choose says who stands for the table's addresses. The answer is made once for each address, stored beside the broker's
// data, and holds even if a broker comes or goes later.
func (k *Kafka) choose(ctx context.Context, props properties) (choice, error) {
	addrs := props.addresses()
	if !props.plain() || !k.standsFor(addrs) {
		return choice{Broker: realBroker}, nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, a := range addrs {
		if c, ok := k.chosen[a]; ok {
			return c, nil
		}
	}
	stored, err := k.readChoices()
	if err != nil {
		return choice{}, err
	}
	for _, a := range addrs {
		if c, ok := stored[a]; ok {
			return c, k.useChoice(a, c)
		}
	}
	if a := probe(ctx, addrs); a != "" {
		return k.storeChoice(stored, addrs, k.listener(a))
	}
	if err := ctx.Err(); err != nil {
		return choice{}, err
	}
	if c := k.neighbour(ctx, addrs); c.Broker == elsewhereBroker {
		return k.storeChoice(stored, addrs, c)
	}
	if k.cfg.Embedded != EmbeddedAllowed && k.host.running() == "" {
		return choice{}, k.nobody(props)
	}
	return k.storeChoice(stored, addrs, choice{Broker: embeddedBroker})
}

// listener says who answers at an address: a real broker, or an embedded one, of this directory or another.
func (k *Kafka) listener(addr string) choice {
	switch id := clusterOf(addr, probeTimeout/3); {
	case id != "" && id == k.host.storedID():
		return choice{Broker: embeddedBroker}
	case strings.HasPrefix(id, clusterPrefix):
		return choice{Broker: elsewhereBroker, Via: addr}
	}
	return choice{Broker: realBroker}
}

// neighbour finds the embedded broker of another data directory at one of the other addresses that such brokers serve:
// the name of one need not resolve where the other answers.
func (k *Kafka) neighbour(ctx context.Context, addrs []string) choice {
	others := slices.DeleteFunc(slices.Clone(k.cfg.Addresses), func(a string) bool { return slices.Contains(addrs, a) })
	if a := probe(ctx, others); a != "" {
		return k.listener(a)
	}
	return choice{}
}

// standsFor says whether all addresses are those that the embedded broker may serve.
func (k *Kafka) standsFor(addrs []string) bool {
	return k.cfg.Dir != "" && !slices.ContainsFunc(addrs, func(a string) bool { return !slices.Contains(k.cfg.Addresses, a) })
}

// useChoice goes by a stored choice.
func (k *Kafka) useChoice(addr string, c choice) error {
	switch {
	case c.Broker == embeddedBroker && k.cfg.Embedded != EmbeddedAllowed && k.host.running() == "":
		return &connectors.PermanentError{Err: fmt.Errorf("%s is the embedded broker of %s, which is not running%s", addr, k.cfg.Dir, k.howToAsk())}
	case c.Broker == embeddedBroker:
		k.cfg.Notice(fmt.Sprintf("Kafka at %s is the embedded broker with the topics in %s.", addr, k.cfg.Dir))
	case c.Broker == elsewhereBroker:
		k.cfg.Notice(fmt.Sprintf("Kafka at %s is the embedded broker of another data directory, which listens at %s.", addr, c.Via))
	}
	k.chosen[addr] = c
	return nil
}

func (k *Kafka) nobody(props properties) error {
	return &connectors.PermanentError{Err: fmt.Errorf("no broker answers at %s%s", props.servers(), k.howToAsk())}
}

func (k *Kafka) howToAsk() string {
	if k.cfg.Embedded == EmbeddedNever || k.cfg.HowToAsk == "" {
		return ""
	}
	return "; for an embedded broker, " + k.cfg.HowToAsk
}

// probe gives one of the addresses at which something answers, "" when there is none.
func probe(ctx context.Context, addrs []string) string {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	answers := make(chan string, len(addrs))
	for _, a := range addrs {
		go func() {
			conn, err := new(net.Dialer).DialContext(ctx, "tcp", a)
			if err != nil {
				answers <- ""
				return
			}
			conn.Close()
			answers <- a
		}()
	}
	for range addrs {
		select {
		case a := <-answers:
			if a != "" {
				return a
			}
		case <-ctx.Done():
			return ""
		}
	}
	return ""
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
func (k *Kafka) storeChoice(stored map[string]choice, addrs []string, c choice) (choice, error) {
	c.At = time.Now().UTC().Truncate(time.Second)
	for _, a := range addrs {
		stored[a] = c
	}
	text, err := json.MarshalIndent(stored, "", "  ")
	if err != nil {
		return c, err
	}
	if err := os.MkdirAll(k.cfg.Dir, 0o755); err != nil {
		return c, fmt.Errorf("directory of the embedded broker: %w", err)
	}
	if err := writeFile(k.choicePath(), text); err != nil {
		return c, fmt.Errorf("choice of brokers: %w", err)
	}
	for _, a := range addrs {
		k.chosen[a] = c
	}
	at := strings.Join(addrs, ", ")
	switch c.Broker {
	case embeddedBroker:
		k.cfg.Notice(fmt.Sprintf("No broker answers at %s: an embedded one with the topics in %s stands for it from now on.", at, k.cfg.Dir))
	case elsewhereBroker:
		k.cfg.Notice(fmt.Sprintf("No broker answers at %s: the embedded one of another data directory, which listens at %s, stands for it from now on.", at, c.Via))
	default:
		k.cfg.Notice(fmt.Sprintf("Kafka at %s is the broker that answers there (remembered in %s).", at, k.choicePath()))
	}
	return c, nil
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

// clusterOf asks whoever listens at addr for its cluster id, "" when it does not speak Kafka. wait bounds each of up to
// three exchanges.
func clusterOf(addr string, wait time.Duration) string {
	c := sarama.NewConfig()
	c.Version = sarama.V3_6_0_0
	c.Net.DialTimeout, c.Net.ReadTimeout, c.Net.WriteTimeout = wait, wait, wait
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
