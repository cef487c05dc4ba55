package nexmark

import (
	"time"

	"runnel/connectors"
	"runnel/types"
)

// tick is the shortest pause of a source that is ahead of its rate.
const tick = 10 * time.Millisecond

// reader makes events when it is polled.
type reader struct {
	*source
	now    func() time.Time
	alarm  *connectors.Alarm
	gen    *generator
	splits []*running
	out    *types.Batch
	boxes  []*box // by column: nil for one that is read as no ROW
	most   int
}

// running is an assigned split. Under a limited rate the event time since from must not run ahead of the clock since begin.
type running struct {
	id    string
	pos   position
	begin time.Time
	from  int64
	over  bool // all events were made, and keep-alive is on
}

func (s *source) read(env connectors.Env, wake func()) (connectors.Reader, error) {
	r := &reader{source: s, now: env.Now, alarm: connectors.NewAlarm(wake), gen: newGenerator(&s.config, s.texts()), out: types.NewBatch(s.fields), most: types.BatchRows}
	if env.MaxRows > 0 {
		r.most = min(r.most, env.MaxRows)
	}
	for _, c := range s.columns {
		r.boxes = append(r.boxes, newBox(c))
	}
	return r, nil
}

func (r *reader) Assign(splits []connectors.Split) error {
	for _, s := range splits {
		p, err := parsePosition(s)
		if err != nil {
			return err
		}
		r.splits = append(r.splits, &running{id: s.ID, pos: p, begin: r.now(), from: p.base + r.millis(p.next())})
	}
	return nil
}

// Poll makes events of the split that is behind the others in event time.
func (r *reader) Poll() (connectors.Polled, error) {
	var s *running
	for _, other := range r.splits {
		if !other.over && (s == nil || other.pos.next() < s.pos.next()) {
			s = other
		}
	}
	if s == nil {
		return connectors.Polled{}, nil
	}
	n := r.lay(s)
	if n == 0 {
		return r.end(s), nil
	}
	if n = r.due(s, n); n == 0 {
		return connectors.Polled{}, nil
	}
	r.make(n)
	s.pos.made += int64(n)
	return connectors.Polled{Split: s.id, Rows: r.out, More: true}, nil
}

// lay lays the split's next events out and counts those before the end.
func (r *reader) lay(s *running) int {
	n := int64(r.most)
	if r.num > 0 {
		n = min(n, (r.num-s.pos.next()+s.pos.of)/s.pos.of) // events 1 to num
	}
	if n <= 0 {
		return 0
	}
	r.gen.begin(s.pos.next(), s.pos.of, s.pos.base, int(n))
	for r.stop >= 0 && n > 0 && r.gen.times[n-1] >= r.stop {
		n--
	}
	return int(n)
}

// end ends a split, or lets it stand still.
func (r *reader) end(s *running) connectors.Polled {
	if r.keep {
		s.over = true
		return connectors.Polled{More: true}
	}
	for i, other := range r.splits {
		if other == s {
			r.splits = append(r.splits[:i], r.splits[i+1:]...)
			break
		}
	}
	return connectors.Polled{Split: s.id, Ended: true, More: true}
}

// due says how many of the n events laid out may be made now; if none may, it sees to being woken.
func (r *reader) due(s *running, n int) int {
	if !r.limited {
		return n
	}
	until := s.from + r.now().Sub(s.begin).Milliseconds()
	most := n
	for n > 0 && r.gen.times[n-1] > until {
		n--
	}
	if n == 0 && most > 0 {
		r.alarm.After(max(time.Duration(r.gen.times[0]-until)*time.Millisecond, tick))
	}
	return n
}

// make fills the batch with the first n events laid out.
func (r *reader) make(n int) {
	r.gen.sort(n)
	r.out.Reset()
	for i, c := range r.out.Cols {
		c.Resize(n)
		switch col := &r.columns[i]; {
		case col.kind == eventType:
			copy(c.Int, r.gen.kinds[:n])
			continue
		case col.path != connectors.Whole:
			col.leaves[col.path].fill(r.gen, c, r.gen.rows[col.kind])
		default:
			r.boxes[i].fill(r.gen, c)
		}
		if len(r.gen.rows[r.columns[i].kind]) < n {
			c.Valid = r.gen.valid[r.columns[i].kind]
		}
	}
	r.out.Len = n
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

// box makes the ROW values of one kind of event.
type box struct {
	column
	scratch []*types.Column // the fields of all events of a run
	ints    []int           // which fields are whole numbers
	strs    []int           // and which are texts
}

func newBox(c column) *box {
	if c.kind == eventType || c.path != connectors.Whole {
		return nil
	}
	b := &box{column: c}
	for i, l := range c.leaves {
		b.scratch = append(b.scratch, types.NewColumn(l.t, types.BatchRows))
		if l.t.Phys() == types.PhysInt {
			b.ints = append(b.ints, i)
		} else {
			b.strs = append(b.strs, i)
		}
	}
	return b
}

// slab is the number of rows whose fields lie in one piece of memory: small enough that a row that is kept pins little.
const slab = 64

// fill makes the rows of the box's kind, NULL for the others.
func (b *box) fill(g *generator, c *types.Column) {
	rows := g.rows[b.kind]
	for i, l := range b.leaves {
		b.scratch[i].Resize(len(c.Any))
		l.fill(g, b.scratch[i], rows)
	}
	clear(c.Any)
	k := len(b.leaves)
	for len(rows) > 0 {
		n := min(slab, len(rows))
		tuples, data := make([]types.Tuple, n), make([]types.Datum, n*k)
		for j, r := range rows[:n] {
			fields := data[j*k : j*k+k : j*k+k]
			for _, i := range b.ints {
				fields[i].I = b.scratch[i].Int[r]
			}
			for _, i := range b.strs {
				fields[i].S = b.scratch[i].Str[r]
			}
			tuples[j].Fields = fields
			c.Any[r] = &tuples[j]
		}
		rows = rows[n:]
	}
}
