package repl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"golang.org/x/term"

	"runnel/session"
)

// viewTick is how often a view looks for a new size of the terminal; it is the fastest refresh as well.
const viewTick = 100 * time.Millisecond

// refreshes are the steps of the refresh interval; the last is by hand.
var refreshes = [...]struct {
	name  string
	every time.Duration
}{
	{"Fastest", viewTick}, {"100 ms", viewTick}, {"500 ms", 500 * time.Millisecond}, {"1 s", time.Second}, {"5 s", 5 * time.Second},
	{"10 s", 10 * time.Second}, {"1 min", time.Minute}, {"-", 0},
}

// view is a full-screen view of a query: what it shows and where the user is in it. It is used by one goroutine.
type view struct {
	rows    *viewRows
	names   []string // of the columns, "op" in front for a changelog
	types   []string
	widths  []int
	log     bool
	refresh int // index into refreshes

	width, height int // of the terminal
	page          int // wanted page, 0 for the last
	at, pages     int // page shown, and how many there are
	shown, before [][]string
	selected      int // row of the page, -1 for none
	left          int // first column shown
	updated       time.Time
	finished      bool
	why           func() string // why there is nothing, "" when nothing is known
	reason        string        // its last answer

	open   []string // the row of the row view, nil when the table shows
	scroll int      // first line of the row view
	asking bool     // for a page number
	answer string
	wrong  bool
}

func newView(r *session.Result, log bool, most, wide int) *view {
	v := &view{rows: newViewRows(log, most), log: log, refresh: 3, selected: -1}
	if log {
		v.names, v.types, v.widths, v.refresh = []string{"op"}, []string{"change"}, []int{2}, 0
	}
	for _, f := range r.Fields {
		v.names = append(v.names, f.Name)
		v.types = append(v.types, f.Type.String())
		v.widths = append(v.widths, max(typeWidth(f.Type, wide), onScreen.of(f.Name), len(nullText)))
	}
	return v
}

// fullScreen shows a query in a view until the user leaves it or the query fails.
func (s *Shell) fullScreen(ctx context.Context, r *session.Result, log bool) error {
	most, err := strconv.Atoi(s.Exec.Option("sql-client.execution.max-table-result.rows"))
	if err != nil {
		most = 1000000
	}
	v := newView(r, log, most, s.columnWidth())
	v.why = func() string { return s.why(r.JobID) }
	keys, stop, err := readKeys(s.Keys)
	if err != nil {
		return err
	}
	out := s.Term.openView()
	io.WriteString(out, "\x1b[?1049h\x1b[?25l")
	fetch, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- v.fetch(fetch, r, newCells(r.Fields, nullText, s.zone())) }()
	size := func() (int, int) {
		w, h, err := term.GetSize(int(s.Keys.Fd()))
		if err != nil {
			return 80, 24
		}
		return w, h
	}
	err = v.run(ctx, out, keys, ended, size)
	cancel()
	if !v.finished {
		<-ended
	}
	io.WriteString(out, "\x1b[0m\x1b[?25h\x1b[?1049l")
	s.ahead += stop()
	s.Term.closeView()
	if err != nil {
		return err
	}
	s.Term.Message("[INFO] " + "Result retrieval cancelled.")
	return nil
}

// fetch reads the changes of the query until it ends.
func (v *view) fetch(ctx context.Context, r *session.Result, cells *cells) error {
	for {
		b, err := r.Rows.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		for k := range b.Rows() {
			i := b.Row(k)
			v.rows.change(b.Kind(i), cells.of(b, i))
		}
	}
}

// run draws and obeys keys. It returns the error of a query that failed.
func (v *view) run(ctx context.Context, out io.Writer, keys <-chan string, ended <-chan error, size func() (int, int)) error {
	tick := time.NewTicker(viewTick)
	defer tick.Stop()
	v.width, v.height = size()
	v.update()
	for {
		io.WriteString(out, v.frame())
		for changed := false; !changed; {
			select {
			case <-ctx.Done():
				return nil
			case k, ok := <-keys:
				if !ok || v.key(k) {
					return nil
				}
				changed = true
			case err := <-ended:
				v.finished, ended = true, nil
				if err != nil && ctx.Err() == nil {
					return err
				}
				v.update()
				changed = true
			case now := <-tick.C:
				w, h := size()
				resized := w != v.width || h != v.height
				v.width, v.height = w, h
				every := refreshes[v.refresh].every
				due := !v.finished && every > 0 && now.Sub(v.updated) >= every
				if changed = resized || due; changed {
					v.update()
				}
			}
		}
	}
}

// bodyHeight is how many rows fit.
func (v *view) bodyHeight() int {
	if v.low() {
		return max(v.height-3, 1)
	}
	return max(v.height-6, 1)
}

// low tells that the terminal has too few lines for anything but rows.
func (v *view) low() bool { return v.height < 10 }

// update takes what the query has given so far.
func (v *view) update() {
	v.before = v.shown
	v.load()
	v.updated = time.Now()
	if v.reason = ""; len(v.shown) == 0 && !v.finished && v.why != nil {
		v.reason = v.why()
	}
}

func (v *view) load() {
	v.shown, v.at, v.pages = v.rows.page(v.page, v.bodyHeight())
	v.selected = min(v.selected, len(v.shown)-1)
}

// turn goes to a page; the last one is followed as it grows.
func (v *view) turn(page int) {
	v.page = max(page, 1)
	if page >= v.pages {
		v.page = 0
	}
	v.load()
	v.before = v.shown
}

// key obeys a key and reports whether it leaves the view.
func (v *view) key(k string) (leave bool) {
	if next, ok := strings.CutPrefix(k, "alt-"); ok && len(next) == 1 { // ESC and a key right behind it
		return v.key(keyEsc) || v.key(next)
	}
	if len(k) == 1 && !v.asking {
		k = strings.ToLower(k)
	}
	switch {
	case k == keyCtrlC:
		return true
	case v.asking:
		v.askKey(k)
		return false
	case v.open != nil:
		v.rowKey(k)
		return false
	}
	switch k {
	case "q", keyEsc:
		return true
	case "r", keyF5:
		v.update()
	case "+":
		v.refresh = min(v.refresh+1, len(refreshes)-1)
	case "-":
		fastest := 1
		if v.log {
			fastest = 0
		}
		v.refresh = max(v.refresh-1, fastest)
	case "g":
		v.asking, v.answer, v.wrong = !v.log, "", false
	case "l", keyEnd:
		v.turn(v.pages)
	case "n", keyNext:
		v.turn(v.at + 1)
	case "p", keyPrev:
		v.turn(v.at - 1)
	case keyLeft, "a":
		v.left = max(v.left-1, 0)
	case keyRight, "d":
		v.left = min(v.left+1, len(v.names)-1)
	case keyUp, "w":
		v.move(-1)
	case keyDown, "s":
		v.move(1)
	case "o", keyEnter:
		if v.selected >= 0 {
			v.open, v.scroll = v.shown[v.selected], 0
		}
	}
	return false
}

// move moves the selection by a row, over the edge to the next page.
func (v *view) move(by int) {
	switch next := v.selected + by; {
	case len(v.shown) == 0:
	case v.selected < 0 && by < 0:
		v.selected = len(v.shown) - 1
	case next < 0 && v.at > 1:
		v.turn(v.at - 1)
		v.selected = len(v.shown) - 1
	case next >= len(v.shown) && v.at < v.pages:
		v.turn(v.at + 1)
		v.selected = 0
	default:
		v.selected = min(max(next, 0), len(v.shown)-1)
	}
}

func (v *view) rowKey(k string) {
	switch k {
	case "q", keyEsc:
		v.open = nil
	case keyUp, "w":
		v.scroll = max(v.scroll-1, 0)
	case keyDown, "s":
		v.scroll++ // held by the drawing
	}
}

func (v *view) askKey(k string) {
	switch {
	case k == keyEsc, k == keyEnter && v.answer == "":
		v.asking = false
	case k == keyErase:
		v.answer = v.answer[:max(len(v.answer)-1, 0)]
	case k == keyEnter:
		n, err := strconv.Atoi(v.answer)
		if v.wrong = err != nil || n < 1 || n > v.pages; v.wrong {
			v.answer = ""
			return
		}
		v.asking = false
		v.turn(n)
	case len(k) == 1 && len(v.answer) < 20:
		v.answer += k
	}
}

// frame draws the whole screen.
func (v *view) frame() string {
	var lines []string
	switch {
	case v.asking:
		lines = v.askLines()
	case v.open != nil:
		lines = v.rowLines()
	default:
		lines = v.tableLines()
	}
	lines = lines[:min(len(lines), v.height)]
	return "\x1b[H" + strings.Join(lines, "\x1b[0m\x1b[K\r\n") + "\x1b[0m\x1b[K\x1b[J"
}

func centred(s string, width int) string {
	return strings.Repeat(" ", max((width-onScreen.of(s))/2, 0)) + s
}

// atBottom puts the last lines of the screen under its first ones.
func (v *view) atBottom(lines []string, last ...string) []string {
	room := max(v.height-len(last), 0)
	lines = lines[:min(len(lines), room)]
	for len(lines) < room {
		lines = append(lines, "")
	}
	for _, l := range last {
		lines = append(lines, clip(l, v.width))
	}
	return lines
}

func (v *view) tableLines() []string {
	title := "SQL Query Result (Table)"
	if v.log {
		title = "SQL Query Result (Changelog)"
	}
	lines := []string{clip(centred(title, v.width), v.width), inverse + v.statusBar() + plain}
	if !v.low() {
		lines = append(lines, "")
	}
	lines = append(lines, v.row(v.names, func(int) string { return "\x1b[4m" }, ""))
	for i, r := range v.shown {
		style := ""
		if i == v.selected {
			style = inverse
		}
		lines = append(lines, v.row(r, func(j int) string {
			if !v.log && (i >= len(v.before) || v.before[i][j] != r[j]) {
				return bold
			}
			return ""
		}, style))
	}
	if v.reason != "" {
		lines = append(lines, "")
		for _, line := range wrap("No row yet: "+v.reason, v.width-2) {
			lines = append(lines, " "+line)
		}
	}
	switch {
	case v.low():
		return lines
	case v.log:
		return v.atBottom(lines, v.footer("Q Quit", "+ Inc Refresh", "O Open Row"), v.footer("R Refresh", "- Dec Refresh", ""))
	}
	return v.atBottom(lines, v.footer("Q Quit", "+ Inc Refresh", "G Goto Page", "N Next Page", "O Open Row"),
		v.footer("R Refresh", "- Dec Refresh", "L Last Page", "P Prev Page", ""))
}

// footer spreads the help for keys over the width.
func (v *view) footer(keys ...string) string {
	line := ""
	for _, k := range keys {
		line += fmt.Sprintf("%-*s", max((v.width-1)/len(keys), len(k)+1), k)
	}
	return strings.TrimRight(line, " ")
}

const inverse = "\x1b[7m"

func (v *view) statusBar() string {
	left := " Refresh: " + refreshes[v.refresh].name
	if v.finished {
		left = " Table program finished."
	}
	right := "Updated: Unknown "
	if !v.updated.IsZero() {
		right = "Updated: " + v.updated.Format("15:04:05.000") + " "
	}
	middle := ""
	if !v.log {
		middle = fmt.Sprintf("Page: %d of %d", v.at, v.pages)
		if v.page == 0 {
			middle = fmt.Sprintf("Page: Last of %d", v.pages)
		}
	}
	if len(left)+len(middle)+len(right)+2 > v.width {
		middle = ""
	}
	room := max(v.width-len(left)-len(right)-len(middle), 0)
	before := min(max((v.width-len(middle))/2-len(left), 0), room)
	return clip(left+strings.Repeat(" ", before)+middle+strings.Repeat(" ", room-before)+right, v.width)
}

// row draws the columns from the left one that fit, each behind a blank, right-aligned.
func (v *view) row(cells []string, style func(int) string, all string) string {
	var b strings.Builder
	used := 0
	for j := v.left; j < len(cells) && used+1 < v.width; j++ {
		w := min(v.widths[j], v.width-used-1)
		text := clipMarked(shown(cells[j]), w)
		pad := w - onScreen.of(text)
		b.WriteString(all + " " + strings.Repeat(" ", pad) + style(j) + text + plain)
		used += w + 1
	}
	return b.String()
}

// shown replaces what would move the cursor or more: line breaks and other control characters.
func shown(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return ' '
		}
		return r
	}, s)
}

// clip cuts text to a width.
func clip(s string, w int) string {
	used := 0
	for i, r := range s {
		if used += runeColumns(r); used > w {
			return s[:i]
		}
	}
	return s
}

// clipMarked cuts text to a width and marks that it did.
func clipMarked(s string, w int) string {
	if onScreen.of(s) <= w {
		return s
	}
	return clip(s, w-1) + "~"
}

// rowLines draws one row in full length.
func (v *view) rowLines() []string {
	var body []string
	for j, c := range v.open {
		body = append(body, clip(" "+shown(v.names[j])+" ("+v.types[j]+"):", v.width))
		for _, line := range strings.Split(c, "\n") {
			for line = shown(line); ; {
				part := clip(line, max(v.width-1, 2))
				body = append(body, " "+part)
				if line = line[len(part):]; line == "" {
					break
				}
			}
		}
		body = append(body, "")
	}
	v.scroll = max(min(v.scroll, len(body)-(v.height-3)), 0)
	return v.atBottom(append([]string{clip(centred("Row Summary", v.width), v.width), ""}, body[v.scroll:]...), "Press Q to go back.")
}

// askLines draws the dialog for a page number.
func (v *view) askLines() []string {
	lines := []string{clip(centred("Input Dialog", v.width), v.width)}
	for len(lines) < v.height/2-2 {
		lines = append(lines, "")
	}
	lines = append(lines, clip(fmt.Sprintf(" Enter page number: [1 to %d]", v.pages), v.width), clip(" > "+v.answer, v.width))
	if v.wrong {
		lines = append(lines, "", clip(" The input is invalid please check it again.", v.width))
	}
	return v.atBottom(lines, "Press Enter to submit. Press ESC or submit an empty string to cancel.")
}

// wrap breaks text between words into lines of at most so many columns; a longer word keeps a line of its own.
func wrap(text string, most int) []string {
	var lines []string
	line, used := "", 0
	for _, word := range strings.Fields(text) {
		n := onScreen.of(word)
		if used > 0 && used+1+n > most {
			lines = append(lines, line)
			line, used = "", 0
		}
		if used > 0 {
			line, used = line+" ", used+1
		}
		line, used = line+word, used+n
	}
	return append(lines, line)
}
