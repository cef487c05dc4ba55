package kafka

import (
	"context"
	"fmt"
	"time"

	"runnel/connectors"
	"runnel/types"
)

// sourceSpec is a planned scan.
type sourceSpec struct {
	*spec
	k         *Kafka
	req       connectors.ScanRequest
	startup   bound
	bounded   bound
	discovery time.Duration
	limits    fetchLimits

	parallelism int // 0 when it is not set
}

// source plans a scan.
func (k *Kafka) source(req connectors.ScanRequest) (*connectors.Source, error) {
	s, err := k.parseTable(req.Table, "scan", "DeserializationFormatFactory")
	if err != nil {
		return nil, err
	}
	src := &sourceSpec{spec: s, k: k, req: req}
	if src.startup, err = s.readBound("startup", optStartup, optStartupOffs, optStartupTime); err != nil {
		return nil, err
	}
	if err := src.parse(); err != nil {
		return nil, err
	}
	if err := s.finish(); err != nil {
		return nil, err
	}
	if s.key.format != nil && s.key.format.Mode != types.InsertOnly {
		return nil, fmt.Errorf("A key format should only deal with INSERT-only rows. But '%s' has a changelog mode of [%s].", s.key.format.Name, s.key.format.Mode)
	}
	return src.plan(s.value.format.Mode)
}

// parse reads the options of a source that say where reading ends and how it goes on.
func (s *sourceSpec) parse() (err error) {
	if s.bounded, err = s.readBound("bounded", optBounded, optBoundedOffs, optBoundedTime); err != nil {
		return err
	}
	if s.discovery, err = s.table.Options.Duration(optDiscovery); err != nil {
		return err
	}
	if s.limits, err = s.props.fetchLimits(); err != nil {
		return err
	}
	s.parallelism, err = positive(s.table.Options, optScanParallel)
	return err
}

// plan makes the source of rows of the given kinds.
func (s *sourceSpec) plan(mode types.ChangelogMode) (*connectors.Source, error) {
	if _, err := newDecoding(s, time.UTC); err != nil {
		return nil, err
	}
	out := &connectors.Source{
		Mode: mode, Bounded: s.bounded.mode != unbounded, Parallelism: s.parallelism,
		Identity: s.k.identity(s.props), Enumerate: s.enumerate, Read: s.read,
	}
	if s.props.group() != "" {
		out.Committed = s.committed
	}
	return out, nil
}

// positive reads a parallelism option: 0 when it is not set.
func positive(o connectors.Options, opt connectors.Option) (int, error) {
	n, err := o.Int(opt)
	if err != nil {
		return 0, err
	}
	if _, set := o.Lookup(opt); set && n < 1 {
		return 0, fmt.Errorf("Invalid value for option '%s': it must be at least 1, but is %d.", opt.Key, n)
	}
	return int(n), nil
}

// committed writes the offsets of a completed checkpoint to the consumer group. It is for those who watch the group: a
// restored job goes by its own state.
func (s *sourceSpec) committed(ctx context.Context, splits []connectors.Split) error {
	offsets := map[topicPartition]int64{}
	for _, c := range splits {
		sp, err := decodeSplit(c)
		if err != nil {
			return err
		}
		if sp.offset >= 0 {
			offsets[sp.topicPartition] = sp.offset
		}
	}
	if len(offsets) == 0 {
		return nil
	}
	c, err := s.k.connect(ctx, s.props, false)
	if err != nil {
		return err
	}
	defer c.close()
	defer c.during(ctx)()
	return c.commitOffsets(ctx, s.props.group(), offsets)
}
