package kafka

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/IBM/sarama"

	"runnel/connectors"
)

// enumerator finds the partitions of a source's topics and where to start and stop reading them.
type enumerator struct {
	src *sourceSpec
	c   *client
}

func (s *sourceSpec) enumerate(env connectors.Env) (connectors.Enumerator, error) {
	return &enumerator{src: s}, nil
}

// Interval is 0 for a bounded source: it reads what was there at the start.
func (e *enumerator) Interval() time.Duration {
	if e.src.bounded.mode != unbounded {
		return 0
	}
	return e.src.discovery
}

func (e *enumerator) Close() error {
	if e.c != nil {
		e.c.close()
	}
	return nil
}

func (e *enumerator) Discover(ctx context.Context, first bool) ([]connectors.Split, error) {
	if e.c != nil && e.c.dead() {
		e.c.close()
		e.c = nil
	}
	if e.c == nil {
		c, err := e.src.k.connect(ctx, e.src.props, false)
		if err != nil {
			return nil, err
		}
		e.c = c
	}
	defer e.c.during(ctx)()
	found, err := e.partitions(ctx)
	if err != nil {
		return nil, err
	}
	var splits []connectors.Split
	for _, topic := range sortedKeys(found) {
		ps := found[topic]
		var starts map[int32]int64
		if first {
			if starts, err = e.starts(ctx, topic, ps); err != nil {
				return nil, err
			}
		}
		stops, err := e.stops(ctx, topic, ps)
		if err != nil {
			return nil, err
		}
		for _, p := range ps {
			s := split{topicPartition: topicPartition{topic, p}, offset: fromStart, stop: noStop}
			if o, ok := starts[p]; ok {
				s.offset = o
			}
			if o, ok := stops[p]; ok {
				s.stop = o
			}
			splits = append(splits, s.encode())
		}
	}
	if first {
		e.openTransactions(ctx, found)
	}
	return splits, nil
}

func sortedKeys[V any](m map[string]V) []string {
	ks := make([]string, 0, len(m))
	for k := range m {
		ks = append(ks, k)
	}
	slices.Sort(ks)
	return ks
}

// partitions lists the partitions of the topics, sorted.
func (e *enumerator) partitions(ctx context.Context) (map[string][]int32, error) {
	topics := e.src.topics
	if e.src.pattern != nil {
		all, err := e.topicNames(ctx)
		if err != nil {
			return nil, fmt.Errorf("topics of %s: %w", e.src.props.servers(), err)
		}
		topics = all
	}
	found := map[string][]int32{}
	for _, t := range topics {
		err := repeat(ctx, 5*time.Second, func() error {
			if err := e.c.RefreshMetadata(t); err != nil {
				return err
			}
			ps, err := e.c.Partitions(t)
			found[t] = slices.Sorted(slices.Values(ps))
			return err
		})
		if isUnknownTopic(err) {
			return nil, fmt.Errorf("topic '%s' does not exist at %s: create it, or start what writes to it first", t, e.src.props.servers())
		}
		if err != nil {
			return nil, fmt.Errorf("partitions of topic '%s' at %s: %w", t, e.src.props.servers(), err)
		}
	}
	return found, nil
}

func isUnknownTopic(err error) bool {
	return err != nil && strings.Contains(err.Error(), sarama.ErrUnknownTopicOrPartition.Error())
}

// topicNames lists the topics that the pattern matches.
func (e *enumerator) topicNames(ctx context.Context) ([]string, error) {
	var names []string
	err := repeat(ctx, 10*time.Second, func() error {
		b := e.c.LeastLoadedBroker()
		if b == nil {
			return sarama.ErrOutOfBrokers
		}
		m, err := b.GetMetadata(sarama.NewMetadataRequest(e.c.Config().Version, nil))
		if err != nil {
			e.c.forget(b, err)
			return err
		}
		names = names[:0]
		for _, t := range m.Topics {
			if !t.IsInternal && e.src.pattern.MatchString(t.Name) {
				names = append(names, t.Name)
			}
		}
		return nil
	})
	slices.Sort(names)
	return names, err
}

// starts resolves the start-up mode for the partitions of a topic. Every partition gets an offset, so that a snapshot
// taken before the first row loses none.
func (e *enumerator) starts(ctx context.Context, topic string, ps []int32) (map[int32]int64, error) {
	switch b := e.src.startup; b.mode {
	case fromEarliest:
		return e.at(ctx, topic, ps, sarama.OffsetOldest)
	case fromLatest:
		return e.at(ctx, topic, ps, sarama.OffsetNewest)
	case fromTime:
		return e.atOrEnd(ctx, topic, ps, b.millis)
	case fromOffsets:
		return e.committedOr(ctx, topic, ps, b.offsets)
	default:
		return e.committedOr(ctx, topic, ps, nil)
	}
}

// stops resolves the bounded mode.
func (e *enumerator) stops(ctx context.Context, topic string, ps []int32) (map[int32]int64, error) {
	switch b := e.src.bounded; b.mode {
	case fromLatest:
		return e.at(ctx, topic, ps, sarama.OffsetNewest)
	case fromTime:
		return e.atOrEnd(ctx, topic, ps, b.millis)
	case fromOffsets:
		return b.offsets, nil
	case fromGroup:
		return e.committed(ctx, topic, ps)
	default:
		return nil, nil
	}
}

func (e *enumerator) at(ctx context.Context, topic string, ps []int32, millis int64) (map[int32]int64, error) {
	return e.c.listOffsets(ctx, topic, ps, millis, e.src.props.readCommitted())
}

// atOrEnd gives the first offset at or after a time, the end where there is none.
func (e *enumerator) atOrEnd(ctx context.Context, topic string, ps []int32, millis int64) (map[int32]int64, error) {
	m, err := e.at(ctx, topic, ps, millis)
	if err != nil {
		return nil, err
	}
	var none []int32
	for p, o := range m {
		if o < 0 {
			none = append(none, p)
		}
	}
	if len(none) == 0 {
		return m, nil
	}
	ends, err := e.at(ctx, topic, none, sarama.OffsetNewest)
	for p, o := range ends {
		m[p] = o
	}
	return m, err
}

func (e *enumerator) committed(ctx context.Context, topic string, ps []int32) (map[int32]int64, error) {
	m := map[int32]int64{}
	group := e.src.props.group()
	if group == "" {
		return m, nil
	}
	offsets, err := e.c.groupOffsets(ctx, group, map[string][]int32{topic: ps}, true)
	for tp, o := range offsets {
		m[tp.partition] = o.offset
	}
	return m, err
}

// committedOr gives the offsets of given, else those that the group has committed, else what auto.offset.reset says.
func (e *enumerator) committedOr(ctx context.Context, topic string, ps []int32, given map[int32]int64) (map[int32]int64, error) {
	m, err := e.committed(ctx, topic, ps)
	if err != nil {
		return nil, err
	}
	var rest []int32
	for _, p := range ps {
		if o, ok := given[p]; ok {
			m[p] = o
		} else if _, ok := m[p]; !ok {
			rest = append(rest, p)
		}
	}
	if len(rest) == 0 {
		return m, nil
	}
	end := int64(sarama.OffsetOldest)
	switch reset := e.src.props.reset(); {
	case reset == "latest":
		end = sarama.OffsetNewest
	case reset == "earliest":
	case given != nil: // unlisted partitions start at the earliest offset
	default:
		return nil, fmt.Errorf("%s has no committed offset for partition %d of topic '%s': set 'scan.startup.mode' to 'earliest-offset' or 'latest-offset', or 'properties.auto.offset.reset' to 'earliest' or 'latest'",
			groupName(e.src.props.group()), rest[0], topic)
	}
	offsets, err := e.at(ctx, topic, rest, end)
	for p, o := range offsets {
		m[p] = o
	}
	return m, err
}

func groupName(group string) string {
	if group == "" {
		return "the source names no consumer group ('properties.group.id'), which"
	}
	return "consumer group '" + group + "'"
}

// openTransactions tells once, for a topic that is read without read_committed, that rows of open transactions are in
// it. Nothing is said when the broker cannot be asked.
func (e *enumerator) openTransactions(ctx context.Context, found map[string][]int32) {
	if e.src.props.readCommitted() {
		return
	}
	for _, t := range sortedKeys(found) {
		ends, err := e.c.listOffsets(ctx, t, found[t], sarama.OffsetNewest, false)
		if err != nil {
			return
		}
		stable, err := e.c.listOffsets(ctx, t, found[t], sarama.OffsetNewest, true)
		if err != nil {
			return
		}
		for _, p := range found[t] {
			if stable[p] < ends[p] {
				e.src.k.once(fmt.Sprintf("Topic '%s' has open transactions, and %s reads their rows too, also those that will be aborted: set 'properties.isolation.level' = 'read_committed' to leave them out.", t, e.src.table.Name))
				break
			}
		}
	}
}
