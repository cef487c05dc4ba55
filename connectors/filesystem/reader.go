package filesystem

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"runnel/connectors"
	"runnel/types"
)

// maxLine is the longest line that is read.
const maxLine = 64 << 20

// reader reads one file after the other. Local files do not block long enough to need a goroutine.
type reader struct {
	*scan
	decode  connectors.Decoder
	out     *types.Batch // the delivered columns
	scratch *types.Batch // the decoded columns, in the order of layout.columns; shares columns with out where delivered
	consts  map[int]types.Datum
	pending []position
	open    *lines
	failed  error
	most    int   // rows per poll
	given   int64 // rows so far, for the request's limit
}

func (s *scan) read(env connectors.Env, _ func()) (connectors.Reader, error) {
	req := s.layout.request
	req.Zone = env.Zone
	d, err := s.format.Decoder(req)
	if err != nil {
		return nil, err
	}
	r := &reader{scan: s, decode: d, out: types.NewBatch(s.request.Fields()), most: types.BatchRows}
	if env.MaxRows > 0 {
		r.most = min(env.MaxRows, r.most)
	}
	r.scratch = types.NewBatch(req.Fields)
	for k, c := range r.columns {
		for j, want := range s.request.Columns {
			if want == c {
				r.scratch.Cols[k] = r.out.Cols[j]
			}
		}
	}
	return r, nil
}

func (r *reader) Assign(splits []connectors.Split) error {
	for _, s := range splits {
		p, err := parsePosition(s)
		if err != nil {
			return err
		}
		r.pending = append(r.pending, p)
	}
	return nil
}

func (r *reader) Poll() (connectors.Polled, error) {
	if r.failed != nil {
		return connectors.Polled{}, r.failed
	}
	if limit := r.request.Limit; limit > 0 {
		if r.given >= limit {
			return r.enough(), nil
		}
		r.most = int(min(int64(r.most), limit-r.given))
	}
	if r.open == nil {
		if len(r.pending) == 0 {
			return connectors.Polled{}, nil
		}
		var err error
		if r.consts, err = r.constants(r.pending[0].Path); err != nil {
			return connectors.Polled{}, err
		}
		if r.open, err = openLines(r.pending[0]); err != nil {
			return connectors.Polled{}, err
		}
		r.pending = r.pending[1:]
	}
	r.scratch.Reset()
	r.out.Reset()
	ended, err := r.fill()
	p := connectors.Polled{Split: r.open.pos.Path, Ended: ended, More: true}
	if r.scratch.Len > 0 {
		r.finish()
		p.Rows = r.out
		r.given += int64(r.out.Len)
	}
	if err != nil && p.Rows != nil {
		r.failed, err = err, nil // the rows before the bad line first
	}
	if ended {
		r.open.close()
		r.open = nil
	}
	return p, err
}

// enough ends the splits that are left, one at a time: as many rows as are wanted have been given.
func (r *reader) enough() connectors.Polled {
	switch {
	case r.open != nil:
		id := r.open.pos.Path
		r.open.close()
		r.open = nil
		return connectors.Polled{Split: id, Ended: true, More: true}
	case len(r.pending) > 0:
		id := r.pending[0].Path
		r.pending = r.pending[1:]
		return connectors.Polled{Split: id, Ended: true, More: true}
	}
	return connectors.Polled{}
}

// fill decodes lines until the batch is full or the file ends.
func (r *reader) fill() (ended bool, err error) {
	for r.scratch.Len < r.most {
		line, size, err := r.open.next()
		if err == io.EOF {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		before := r.scratch.Len
		if err := r.decode.Decode(line, r.scratch); err != nil {
			return false, &types.DataError{
				Place: fmt.Sprintf("file %s, line %d", r.open.pos.Path, r.open.pos.Lines+1),
				Row:   cut(line), Err: err,
			}
		}
		if (r.scratch.Len > types.BatchRows || r.open.pos.Skip > 0) && !r.part(before) {
			r.open.again, r.open.size = line, size
			return false, nil
		}
		r.open.pos.Offset += size
		r.open.pos.Lines++
		r.open.pos.Skip = 0
	}
	return false, nil
}

// part handles a line whose rows, from before on, do not fit or were given in part: behind rows of other lines it is taken
// back and met again by the next poll; alone, as many of its rows as fit are given. whole says that none is left.
func (r *reader) part(before int) (whole bool) {
	if before > 0 {
		r.scratch.Truncate(before)
		return false
	}
	skip := int(r.open.pos.Skip)
	give := min(r.scratch.Len-skip, types.BatchRows)
	some := &types.Batch{}
	for _, c := range r.scratch.Cols {
		some.Cols = append(some.Cols, types.NewColumn(c.Type, give))
	}
	for i := skip; i < skip+give; i++ {
		some.AppendRow(r.scratch, int32(i), r.scratch.Kind(int32(i)))
	}
	left := r.scratch.Len - skip - give
	r.scratch.Reset()
	for i := range int32(some.Len) {
		r.scratch.AppendRow(some, i, some.Kind(i))
	}
	r.open.pos.Skip += int64(give)
	return left == 0
}

// finish adds the columns that are not in the lines.
func (r *reader) finish() {
	r.out.Len, r.out.Kinds = r.scratch.Len, r.scratch.Kinds
	for j, c := range r.request.Columns {
		if v, ok := r.consts[c]; ok {
			for range r.out.Len {
				r.out.Cols[j].Append(v)
			}
		}
	}
}

func cut(line []byte) string {
	const most = 200
	if len(line) > most {
		return string(line[:most]) + ".."
	}
	return string(line)
}

func (r *reader) Snapshot() ([]connectors.Split, error) {
	var splits []connectors.Split
	if r.open != nil {
		splits = append(splits, connectors.Split{ID: r.open.pos.Path, State: r.open.pos.encode()})
	}
	for _, p := range r.pending {
		splits = append(splits, connectors.Split{ID: p.Path, State: p.encode()})
	}
	return splits, nil
}

func (r *reader) Close() error {
	if r.open != nil {
		r.open.close()
		r.open = nil
	}
	return nil
}

// lines gives the lines of a file from a position on. Their bytes are never overwritten: they lie in buffers that are
// filled once.
type lines struct {
	file *os.File
	in   *bufio.Reader
	pos  position
	buf  []byte // free part of the newest buffer

	again []byte // a line that was taken back, nil for none
	size  int64  // of it in the file
}

func openLines(p position) (*lines, error) {
	f, err := os.Open(p.Path)
	if err != nil {
		return nil, err
	}
	l := &lines{file: f, pos: p}
	var in io.Reader = f
	switch ext := filepath.Ext(p.Path); ext {
	case ".gz", ".gzip":
		in, err = gzip.NewReader(f)
	case ".deflate":
		in = flate.NewReader(f)
	case ".bz2":
		in = bzip2.NewReader(f)
	case ".xz", ".zst":
		err = fmt.Errorf("compression %s is not supported; use gz, deflate or bz2", ext)
	default:
		_, err = f.Seek(p.Offset, io.SeekStart)
	}
	if err == nil && in != f {
		_, err = io.CopyN(io.Discard, in, p.Offset)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("opening of %s at byte %d: %w", p.Path, p.Offset, err)
	}
	l.in = bufio.NewReaderSize(in, 256<<10)
	return l, nil
}

// next gives the next line without its end and the bytes that it takes in the file. A last line needs no end.
func (l *lines) next() ([]byte, int64, error) {
	if line := l.again; line != nil {
		l.again = nil
		return line, l.size, nil
	}
	var long []byte
	for {
		part, err := l.in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			if len(long)+len(part) > maxLine {
				return nil, 0, fmt.Errorf("file %s, line %d: longer than %d bytes", l.pos.Path, l.pos.Lines+1, maxLine)
			}
			long = append(long, part...)
			continue
		}
		if err != nil && err != io.EOF {
			return nil, 0, fmt.Errorf("file %s, line %d: %w", l.pos.Path, l.pos.Lines+1, err)
		}
		if len(part)+len(long) == 0 {
			return nil, 0, io.EOF
		}
		size := int64(len(part) + len(long))
		if long != nil {
			part = append(long, part...)
		} else {
			part = l.keep(part)
		}
		part = bytes.TrimSuffix(part, []byte("\n"))
		return bytes.TrimSuffix(part, []byte("\r")), size, nil
	}
}

// keep copies a line into memory that nobody writes again.
func (l *lines) keep(line []byte) []byte {
	if len(line) > len(l.buf) {
		l.buf = make([]byte, max(len(line), 256<<10))
	}
	n := copy(l.buf, line)
	kept := l.buf[:n:n]
	l.buf = l.buf[n:]
	return kept
}

func (l *lines) close() { l.file.Close() }
