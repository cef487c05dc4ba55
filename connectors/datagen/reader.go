package datagen

import (
	"fmt"
	"math/rand/v2"
	"time"

	"runnel/connectors"
	"runnel/types"
)

// tick is the shortest pause between two batches of a source that is ahead of its rate.
const tick = 20 * time.Millisecond

// reader makes rows when it is polled.
type reader struct {
	*source
	now    func() time.Time
	alarm  *connectors.Alarm
	gens   []generator
	splits []*running
	next   int // the split to poll first
	out    *types.Batch
}

// running is an assigned split with its pace.
type running struct {
	id    string
	pos   position
	limit int64 // rows of this split; -1 without end
	begin time.Time
	paced int64 // rows made since begin
}

func (s *source) read(env connectors.Env, wake func()) (connectors.Reader, error) {
	r := &reader{source: s, now: env.Now, alarm: connectors.NewAlarm(wake), out: types.NewBatch(s.fields)}
	random := rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	for _, f := range s.fields {
		g, err := newGenerator(f, s.options)
		if err != nil {
			return nil, err
		}
		g.start(random, env.Now)
		r.gens = append(r.gens, g)
	}
	return r, nil
}

func (r *reader) Assign(splits []connectors.Split) error {
	for _, s := range splits {
		p, err := parsePosition(s)
		if err != nil {
			return err
		}
		run := &running{id: s.ID, pos: p, limit: -1, begin: time.Now()}
		if r.bounded {
			run.limit = r.limit / p.of
			if p.index < r.limit%p.of {
				run.limit++
			}
		}
		r.splits = append(r.splits, run)
	}
	return nil
}

// due is how many rows the split may make now, at most a batch.
func (r *reader) due(s *running) int64 {
	elapsed := time.Since(s.begin)
	allowed := int64(elapsed.Seconds()*float64(r.rate)/float64(s.pos.of)) - s.paced
	if s.limit >= 0 {
		allowed = min(allowed, s.limit-s.pos.made)
	}
	return min(allowed, types.BatchRows)
}

func (r *reader) Poll() (connectors.Polled, error) {
	for range r.splits {
		r.next = (r.next + 1) % len(r.splits)
		s := r.splits[r.next]
		if s.limit >= 0 && s.pos.made >= s.limit {
			r.splits = append(r.splits[:r.next], r.splits[r.next+1:]...)
			return connectors.Polled{Split: s.id, Ended: true, More: true}, nil
		}
		if n := r.due(s); n > 0 {
			r.make(s, int(n))
			return connectors.Polled{Split: s.id, Rows: r.out, More: true}, nil
		}
	}
	if len(r.splits) > 0 {
		r.alarm.After(max(time.Duration(float64(time.Second)/float64(r.rate)), tick)) // when the next row is due
	}
	return connectors.Polled{}, nil
}

func (r *reader) make(s *running, n int) {
	r.out.Reset()
	row := s.pos.index + s.pos.made*s.pos.of
	for i, g := range r.gens {
		g.fill(r.out.Cols[i], n, row, s.pos.of)
	}
	r.out.Len = n
	s.pos.made += int64(n)
	s.paced += int64(n)
}

func (r *reader) Snapshot() ([]connectors.Split, error) {
	splits := make([]connectors.Split, len(r.splits))
	for i, s := range r.splits {
		splits[i] = s.pos.split()
	}
	return splits, nil
}

func (r *reader) Close() error {
	r.alarm.Stop()
	return nil
}

// sequence gives the bounds of a sequence column; ok is false for a random one.
func sequence(f types.Field, o connectors.Options) (first, last int64, ok bool, err error) {
	switch k := optionOf(o, kind, f.Name); k {
	case "random":
		return 0, 0, false, nil
	case "sequence":
	default:
		return 0, 0, false, fmt.Errorf("Unsupported generator kind: %s\nThe kinds of column '%s' are random and sequence.", k, f.Name)
	}
	if f.Type.Kind == types.Boolean {
		return 0, 0, false, nil
	}
	for _, b := range [...]struct {
		opt connectors.Option
		to  *int64
	}{{seqStart, &first}, {seqEnd, &last}} {
		key := at(b.opt, f.Name)
		if _, set := o[key.Key]; !set {
			return 0, 0, false, fmt.Errorf("Could not find required property '%s' for sequence generator.", key.Key)
		}
		if *b.to, err = o.Int(key); err != nil {
			return 0, 0, false, err
		}
	}
	if first > last {
		return 0, 0, false, fmt.Errorf("sequence of column '%s': start %d lies behind end %d", f.Name, first, last)
	}
	return first, last, true, nil
}

// at puts a column's name into the key of a per-column option.
func at(opt connectors.Option, field string) connectors.Option {
	opt.Key = "fields." + field + opt.Key[len("fields.#"):]
	return opt
}

func optionOf(o connectors.Options, opt connectors.Option, field string) string {
	return o.Get(at(opt, field))
}
