package kafka

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
)

// host runs the embedded broker in this process, or finds the process that does. One process at a time holds the lock of
// the directory; the others reach it through TCP and take the directory over when it ends.
//
//	dir/lock      locked by the process that is the broker
//	dir/address   where it listens
//	dir/cluster   the cluster id
//	dir/data/     kfake's own files
type host struct {
	dir       string
	addresses []string
	retention int64
	log       *slog.Logger

	mu      sync.Mutex
	lock    *os.File
	cluster *kfake.Cluster
	addr    string // where the running broker of this process listens
	stop    chan struct{}
	wait    sync.WaitGroup
	closed  bool
}

// address gives where the embedded broker listens, and starts it if nobody runs it and start allows that.
func (h *host) address(ctx context.Context, start bool) (string, error) {
	for {
		h.mu.Lock()
		if h.cluster != nil {
			defer h.mu.Unlock()
			return h.addr, nil
		}
		if h.closed {
			h.mu.Unlock()
			return "", errors.New("the embedded broker has been stopped")
		}
		if start {
			took, err := h.start()
			if took || err != nil {
				defer h.mu.Unlock()
				return h.addr, err
			}
		}
		h.mu.Unlock()
		if a := h.running(); a != "" {
			return a, nil
		}
		if !start {
			return "", fmt.Errorf("the embedded broker of %s is not running", h.dir)
		}
		// Another process holds the lock and does not listen yet, or no longer.
		if err := pause(ctx, 20*time.Millisecond); err != nil {
			return "", fmt.Errorf("embedded broker of %s: another process holds it and does not answer: %w", h.dir, err)
		}
	}
}

// running gives the address of a broker that another process runs on the directory, "" when there is none.
func (h *host) running() string {
	text, err := os.ReadFile(filepath.Join(h.dir, "address"))
	if err != nil {
		return ""
	}
	addr := strings.TrimSpace(string(text))
	id := h.storedID()
	if id == "" || clusterOf(addr, time.Second) != id {
		return ""
	}
	return addr
}

// storedID is the directory's cluster id, "" before there is one.
func (h *host) storedID() string {
	text, err := os.ReadFile(filepath.Join(h.dir, "cluster"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// start takes the directory and opens the broker; false when another process holds it. h.mu is held.
func (h *host) start() (took bool, err error) {
	if err := os.MkdirAll(h.dir, 0o755); err != nil {
		return false, fmt.Errorf("directory of the embedded broker: %w", err)
	}
	lock, err := lockFile(filepath.Join(h.dir, "lock"))
	if err != nil {
		return false, fmt.Errorf("lock of the embedded broker's directory: %w", err)
	}
	if lock == nil {
		return false, nil
	}
	defer func() {
		if err != nil {
			lock.Close()
		}
	}()
	id, err := h.clusterID()
	if err != nil {
		return false, err
	}
	if err := mendTopics(filepath.Join(h.dir, "data")); err != nil {
		return false, err
	}
	if err := mendIndexes(filepath.Join(h.dir, "data")); err != nil {
		return false, err
	}
	c, err := h.open(id)
	if err != nil {
		return false, fmt.Errorf("embedded broker in %s: %w", h.dir, err)
	}
	addr := c.ListenAddrs()[0]
	if err := writeFile(filepath.Join(h.dir, "address"), []byte(addr+"\n")); err != nil {
		c.Close()
		return false, fmt.Errorf("address of the embedded broker: %w", err)
	}
	h.lock, h.cluster, h.addr, h.stop = lock, c, addr, make(chan struct{})
	h.wait.Add(1)
	go h.clean(c, h.stop)
	return true, nil
}

// open starts kfake at the port that the directory had before, else at that of the first address, else at any free one.
func (h *host) open(id string) (*kfake.Cluster, error) {
	if h.retention < 1 {
		return nil, fmt.Errorf("retention of %d bytes", h.retention)
	}
	segment := max(h.retention/8, 1<<20)
	var last error
	for _, port := range h.ports() {
		c, err := kfake.NewCluster(
			kfake.NumBrokers(1), kfake.Ports(port), kfake.ClusterID(id), kfake.DataDir(filepath.Join(h.dir, "data")),
			kfake.AllowAutoTopicCreation(), kfake.DefaultNumPartitions(1),
			kfake.BrokerConfigs(map[string]string{
				"log.retention.bytes": strconv.FormatInt(h.retention, 10), "log.segment.bytes": strconv.FormatInt(segment, 10),
				"log.retention.ms": "-1", "transaction.max.timeout.ms": "3600000",
			}),
		)
		if err == nil {
			return c, nil
		}
		last = err
		var op *net.OpError
		if !errors.As(err, &op) {
			break
		}
	}
	return nil, last
}

// ports gives the ports to try, the best first; 0 is any free one.
func (h *host) ports() []int {
	var ps []int
	add := func(addr string) {
		if _, p, err := net.SplitHostPort(strings.TrimSpace(addr)); err == nil {
			if n, err := strconv.Atoi(p); err == nil {
				ps = append(ps, n)
			}
		}
	}
	if text, err := os.ReadFile(filepath.Join(h.dir, "address")); err == nil {
		add(string(text))
	}
	if len(h.addresses) > 0 {
		add(h.addresses[0])
	}
	return append(ps, 0)
}

// clusterPrefix begins the cluster id of every embedded broker, so that one can be told from a real broker.
const clusterPrefix = "runnel-"

// clusterID gives the directory's cluster id, a random one that is made at the first start.
func (h *host) clusterID() (string, error) {
	path := filepath.Join(h.dir, "cluster")
	text, err := os.ReadFile(path)
	if err == nil && len(strings.TrimSpace(string(text))) > 0 {
		return strings.TrimSpace(string(text)), nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("cluster id of the embedded broker: %w", err)
	}
	var raw [8]byte
	rand.Read(raw[:])
	id := clusterPrefix + hex.EncodeToString(raw[:])
	if err := writeFile(path, []byte(id+"\n")); err != nil {
		return "", fmt.Errorf("cluster id of the embedded broker: %w", err)
	}
	return id, nil
}

// cleanEvery is the time between two looks at the size of the topics.
const cleanEvery = 30 * time.Second

// clean keeps the topics within the retention: kfake looks by itself only at topics that have settings of their own.
func (h *host) clean(c *kfake.Cluster, stop chan struct{}) {
	defer h.wait.Done()
	t := time.NewTicker(cleanEvery)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			c.ApplyRetention()
		case <-stop:
			return
		}
	}
}

// close stops the broker of this process, if it runs one, and gives the directory free.
func (h *host) close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	if h.cluster == nil {
		return nil
	}
	close(h.stop)
	h.wait.Wait()
	h.cluster.Close()
	h.cluster = nil
	return h.lock.Close()
}
