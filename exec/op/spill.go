package op

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sort"

	"runnel/types"
)

// Spill is what operators of batch mode may hold in memory, and where they put what is more. The zero Spill has no bound.
type Spill struct {
	Memory int64 // bytes
	// Create makes a temporary file, which is gone when it is closed.
	Create func() (SpillFile, error)
}

// SpillFile is a temporary file.
type SpillFile interface {
	io.WriterAt
	io.ReaderAt
	io.Closer
}

// spillBlock is the greatest number of bytes that are written and read at once, but for rows that are larger.
const spillBlock = 64 << 10

// spillSpace is where one operator puts rows: in memory as far as its Spill allows, then in one temporary file. Space in
// the file is used again when all runs have been dropped.
type spillSpace struct {
	Spill
	ctx     context.Context // ends reading
	name    string
	file    SpillFile
	end     int64
	used    int64 // bytes of blocks in memory
	runs    []*rowRun
	spilled *Counter
}

func newSpillSpace(ctx *Context) *spillSpace {
	s := &spillSpace{Spill: ctx.Spill, ctx: ctx.Ctx, name: ctx.Name}
	if ctx.Counter != nil {
		s.spilled = ctx.Counter("numBytesSpilled")
	}
	return s
}

// over reports whether that many bytes are more than may be held in memory.
func (s *spillSpace) over(bytes int64) bool { return s.Create != nil && bytes > s.Memory }

// openMemory is what the open values of one key, which cannot go to disk, may take however small the bound is.
const openMemory = 1 << 20

// tooLarge is the error of values of one key that take more than that and more than the operator may have.
func (s *spillSpace) tooLarge(what string, bytes int64) error {
	if bytes <= openMemory || !s.over(bytes) {
		return nil
	}
	return fmt.Errorf("%s: %s takes %d bytes, which is more than the operator may have: set taskmanager.memory.managed.size for more memory",
		s.name, what, bytes)
}

// blockSize leaves room for many runs under a small bound.
func (s *spillSpace) blockSize() int {
	if s.Create == nil {
		return spillBlock
	}
	return int(min(spillBlock, max(s.Memory/256, 512)))
}

// write puts a block into the file.
func (s *spillSpace) write(b []byte) (at int64, err error) {
	if s.file == nil {
		if s.file, err = s.Create(); err != nil {
			return 0, s.fail("make a temporary file for", err)
		}
	}
	at = s.end
	if _, err := s.file.WriteAt(b, at); err != nil {
		return 0, s.fail("write", err)
	}
	s.end += int64(len(b))
	if s.spilled != nil {
		s.spilled.Add(int64(len(b)))
	}
	return at, nil
}

func (s *spillSpace) fail(doing string, err error) error {
	return fmt.Errorf("%s: %s rows that do not fit into memory (set taskmanager.memory.managed.size for more memory, io.tmp.dirs for another disk): %w",
		s.name, doing, err)
}

// evict moves blocks from memory to the file.
func (s *spillSpace) evict() error {
	for _, r := range s.runs {
		if err := r.toDisk(); err != nil {
			return err
		}
	}
	s.used = 0
	return nil
}

// close removes the file.
func (s *spillSpace) close() error {
	if s == nil || s.file == nil {
		return nil
	}
	f := s.file
	s.file = nil
	return f.Close()
}

// rowRun is a sequence of rows that is written once and then read.
type rowRun struct {
	space  *spillSpace
	codec  *types.RowCodec
	blocks []rowBlock
	open   []byte
	rows   int
	closed int // rows in blocks
	bytes  int64
}

// rowBlock is whole rows, one behind the other.
type rowBlock struct {
	mem   []byte // nil: in the file
	at    int64
	n     int
	first int // number of its first row in the run
}

// newRun makes an empty run of rows that the codec encodes.
func (s *spillSpace) newRun(codec *types.RowCodec) *rowRun {
	r := &rowRun{space: s, codec: codec}
	s.runs = append(s.runs, r)
	return r
}

// add appends row i of cols.
func (r *rowRun) add(cols []*types.Column, i int32) error {
	before := len(r.open)
	r.open = r.codec.Append(r.open, cols, i)
	r.rows++
	r.bytes += int64(len(r.open) - before)
	if len(r.open) < r.space.blockSize() {
		return nil
	}
	return r.cut()
}

// cut closes the open block.
func (r *rowRun) cut() error {
	if len(r.open) == 0 {
		return nil
	}
	r.blocks = append(r.blocks, rowBlock{mem: r.open, n: len(r.open), first: r.closed})
	r.closed = r.rows
	r.space.used += int64(len(r.open))
	r.open = make([]byte, 0, cap(r.open))
	if r.space.over(r.space.used) {
		return r.space.evict()
	}
	return nil
}

// toDisk writes the closed blocks that are in memory. They are the last ones.
func (r *rowRun) toDisk() error {
	first := len(r.blocks)
	for first > 0 && r.blocks[first-1].mem != nil {
		first--
	}
	for i := range r.blocks[first:] {
		b := &r.blocks[first+i]
		at, err := r.space.write(b.mem)
		if err != nil {
			return err
		}
		b.mem, b.at = nil, at
	}
	return nil
}

// drop forgets the rows.
func (r *rowRun) drop() {
	for _, b := range r.blocks {
		r.space.used -= int64(len(b.mem))
	}
	r.blocks, r.open, r.rows, r.closed, r.bytes = nil, nil, 0, 0, 0
	r.space.runs = slices.DeleteFunc(r.space.runs, func(x *rowRun) bool { return x == r })
	if len(r.space.runs) == 0 {
		r.space.end = 0
	}
}

// runReader reads a run from its front.
type runReader struct {
	run  *rowRun
	next int
	rest []byte
}

// read appends up to max rows to cols and gives their number, 0 at the end.
func (r *runReader) read(cols []*types.Column, max int) (int, error) {
	n := 0
	for ; n < max; n++ {
		if len(r.rest) == 0 {
			if more, err := r.block(); !more {
				return n, err
			}
		}
		var err error
		if r.rest, err = r.run.codec.Decode(r.rest, cols); err != nil {
			return n, r.run.space.fail("read", err)
		}
	}
	return n, nil
}

// seek goes to the block that holds a row of a complete run, and gives the number of its first row.
func (r *runReader) seek(row int) int {
	r.rest = nil
	r.next = sort.Search(len(r.run.blocks), func(i int) bool { return r.run.blocks[i].first > row }) - 1
	return r.run.blocks[r.next].first
}

// readBlock appends the rows of the next block to cols and gives their number.
func (r *runReader) readBlock(cols []*types.Column) (int, error) {
	to := r.run.rows
	if r.next+1 < len(r.run.blocks) {
		to = r.run.blocks[r.next+1].first
	}
	return r.read(cols, to-r.run.blocks[r.next].first)
}

// ended reports whether all has been read.
func (r *runReader) ended() bool {
	return len(r.rest) == 0 && (r.next > len(r.run.blocks) || r.next == len(r.run.blocks) && len(r.run.open) == 0)
}

// block takes up the next block.
func (r *runReader) block() (more bool, err error) {
	if r.ended() {
		return false, nil
	}
	if err := r.run.space.ctx.Err(); err != nil {
		return false, err
	}
	r.next++
	if r.next > len(r.run.blocks) {
		r.rest = r.run.open
		return true, nil
	}
	b := r.run.blocks[r.next-1]
	if r.rest = b.mem; b.mem != nil {
		return true, nil
	}
	r.rest = make([]byte, b.n) // strings of its rows may be kept: never used again
	if _, err := r.run.space.file.ReadAt(r.rest, b.at); err != nil {
		return false, r.run.space.fail("read", err)
	}
	return true, nil
}

// each calls f with the rows as batches, which are borrowed.
func (r *rowRun) each(fields []types.Field, f func(*types.Batch) error) error {
	b := types.NewBatch(fields)
	for in := (runReader{run: r}); ; {
		n, err := in.read(b.Cols, types.BatchRows)
		if err != nil || n == 0 {
			return err
		}
		b.Len = n
		if err := f(b); err != nil {
			return err
		}
		b.Reset()
	}
}

// newRunCodec makes the codec of rows of some fields. What it decodes shares the bytes of the blocks.
func newRunCodec(fields []types.Field) *types.RowCodec {
	ts := make([]types.Type, len(fields))
	for i, f := range fields {
		ts[i] = f.Type
	}
	c := types.NewRowCodec(ts)
	c.Share = true
	return c
}

// partitioned are rows that are dealt to runs by a hash of their keys.
type partitioned struct {
	space *spillSpace
	codec *types.RowCodec
	level int
	runs  []*rowRun
}

const (
	spreadBits = 6
	// spreadLevels is how often rows can be dealt anew by further bits of the hash.
	spreadLevels = 64 / spreadBits
)

// add puts row i of cols into the run of its hash.
func (p *partitioned) add(hash uint64, cols []*types.Column, i int32) error {
	if p.runs == nil {
		p.runs = make([]*rowRun, 1<<spreadBits)
	}
	n := hash << (p.level * spreadBits) >> (64 - spreadBits)
	if p.runs[n] == nil {
		p.runs[n] = p.space.newRun(p.codec)
	}
	return p.runs[n].add(cols, i)
}
