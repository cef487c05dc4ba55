package connectors

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
)

// OptionKind is the type of an option's value.
type OptionKind uint8

const (
	StringOption OptionKind = iota
	IntOption
	LongOption
	FloatOption
	BoolOption
	DurationOption
	MemoryOption // bytes: 128mb
	EnumOption
	ListOption // a;b
	MapOption  // k:v,k:v
)

// Option is one WITH key that a connector or format knows.
type Option struct {
	Key      string
	Kind     OptionKind
	Default  string // "" for none
	Required bool
	Values   []string // EnumOption
	Enum     string   // the class that Flink's enum error names
	Old      []string // deprecated spellings, still read
	Doc      string
	Secret   bool // masked in SHOW CREATE, history and logs
	// Fields: the key holds '#', which stands for a column name (fields.#.kind).
	Fields bool
}

// Options are the WITH options of a table.
type Options map[string]string

// Get gives the value of the option, its default when it is not set.
func (o Options) Get(opt Option) string {
	if v, ok := o.Lookup(opt); ok {
		return v
	}
	return opt.Default
}

// Lookup gives the value if it is set, under the key or one of its old spellings.
func (o Options) Lookup(opt Option) (string, bool) {
	if v, ok := o[opt.Key]; ok {
		return v, true
	}
	for _, k := range opt.Old {
		if v, ok := o[k]; ok {
			return v, true
		}
	}
	return "", false
}

// Int gives an IntOption or LongOption; 0 when neither set nor defaulted.
func (o Options) Int(opt Option) (int64, error) {
	v := o.Get(opt)
	if v == "" {
		return 0, nil
	}
	bits := 64
	if opt.Kind == IntOption {
		bits = 32
	}
	n, err := strconv.ParseInt(v, 10, bits)
	if err != nil {
		return 0, badValue(opt, v, &Refused{"java.lang.NumberFormatException", fmt.Sprintf("For input string: \"%s\"", v)})
	}
	return n, nil
}

// Bool gives a BoolOption.
func (o Options) Bool(opt Option) (bool, error) {
	switch v := o.Get(opt); strings.ToLower(v) {
	case "true":
		return true, nil
	case "false", "":
		return false, nil
	default:
		return false, badValue(opt, v, &Refused{"java.lang.IllegalArgumentException",
			fmt.Sprintf("Unrecognized option for boolean: %s. Expected either true or false(case insensitive)", v)})
	}
}

// Enum gives an EnumOption in the spelling of Values.
func (o Options) Enum(opt Option) (string, error) {
	v := o.Get(opt)
	for _, w := range opt.Values {
		if strings.EqualFold(v, w) {
			return w, nil
		}
	}
	if v == "" && opt.Default == "" {
		return "", nil
	}
	return "", badValue(opt, v, &Refused{"java.lang.IllegalArgumentException", fmt.Sprintf("Could not parse value for enum %s. Expected one of: [[%s]]",
		strings.TrimSpace("class "+opt.Enum), strings.Join(opt.Values, ", "))})
}

// Duration gives a DurationOption.
func (o Options) Duration(opt Option) (time.Duration, error) {
	v := o.Get(opt)
	if v == "" {
		return 0, nil
	}
	d, err := ParseDuration(v)
	if err != nil {
		return 0, badValue(opt, v, err)
	}
	return d, nil
}

// Memory gives a MemoryOption in bytes.
func (o Options) Memory(opt Option) (int64, error) {
	v := o.Get(opt)
	if v == "" {
		return 0, nil
	}
	n, err := ParseMemory(v)
	if err != nil {
		return 0, badValue(opt, v, err)
	}
	return n, nil
}

// List gives a ListOption.
func (o Options) List(opt Option) []string {
	v := o.Get(opt)
	if v == "" {
		return nil
	}
	parts := strings.Split(v, ";")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return slices.DeleteFunc(parts, func(s string) bool { return s == "" })
}

// WithPrefix gives the options below a prefix, without it.
func (o Options) WithPrefix(prefix string) map[string]string {
	m := map[string]string{}
	for k, v := range o {
		if rest, ok := strings.CutPrefix(k, prefix); ok {
			m[rest] = v
		}
	}
	return m
}

// Sub gives the options below "prefix." as Options of their own, e.g. those of a format.
func (o Options) Sub(prefix string) Options { return o.WithPrefix(prefix + ".") }

func badValue(opt Option, v string, cause error) error {
	if opt.Secret {
		v = "******"
	}
	return fmt.Errorf("Could not parse value '%s' for key '%s'.: %w", v, opt.Key, cause)
}

// Keys gives the sorted keys.
func (o Options) Keys() []string {
	ks := make([]string, 0, len(o))
	for k := range o {
		ks = append(ks, k)
	}
	sort.Strings(ks)
	return ks
}

var durationUnits = []struct {
	unit  time.Duration
	names []string
}{
	{24 * time.Hour, []string{"d", "day", "days"}},
	{time.Hour, []string{"h", "hour", "hours"}},
	{time.Minute, []string{"m", "min", "minute", "minutes"}},
	{time.Second, []string{"s", "sec", "secs", "second", "seconds"}},
	{time.Millisecond, []string{"ms", "milli", "millis", "millisecond", "milliseconds"}},
	{time.Microsecond, []string{"µs", "micro", "micros", "microsecond", "microseconds"}},
	{time.Nanosecond, []string{"ns", "nano", "nanos", "nanosecond", "nanoseconds"}},
}

// ParseDuration reads Flink's durations: "10 s", "1min", "500" (milliseconds).
func ParseDuration(s string) (time.Duration, error) {
	num, unit := splitUnit(s)
	if num == "" {
		return 0, fmt.Errorf("text does not start with a number")
	}
	n, err := strconv.ParseInt(num, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("The value '%s' cannot be re represented as java.time.Duration (numeric overflow)", num)
	}
	if unit == "" {
		unit = "ms"
	}
	var known []string
	for _, u := range durationUnits {
		if slices.Contains(u.names, unit) {
			if n > int64(1<<63-1)/int64(u.unit) {
				return 0, fmt.Errorf("The value '%s' is too long for a duration", s)
			}
			return time.Duration(n) * u.unit, nil
		}
		known = append(known, "("+strings.Join(u.names, " | ")+")")
	}
	return 0, fmt.Errorf("Time interval unit label '%s' does not match any of the recognized units: %s", unit, strings.Join(known, ", "))
}

var memoryUnits = []struct {
	shift uint
	names []string
}{
	{0, []string{"", "b", "bytes"}},
	{10, []string{"k", "kb", "kibibytes"}},
	{20, []string{"m", "mb", "mebibytes"}},
	{30, []string{"g", "gb", "gibibytes"}},
	{40, []string{"t", "tb", "tebibytes"}},
}

// ParseMemory reads Flink's memory sizes: "128mb", "4096" (bytes).
func ParseMemory(s string) (int64, error) {
	num, unit := splitUnit(s)
	if num == "" {
		return 0, fmt.Errorf("text does not start with a number")
	}
	n, err := strconv.ParseInt(num, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("The value '%s' cannot be represented as 64bit number (numeric overflow)", num)
	}
	for _, u := range memoryUnits {
		if slices.Contains(u.names, unit) {
			if n > (1<<63-1)>>u.shift {
				return 0, fmt.Errorf("The value '%s' cannot be represented as 64bit number of bytes (numeric overflow)", s)
			}
			return n << u.shift, nil
		}
	}
	return 0, fmt.Errorf("Memory size unit '%s' does not match any of the recognized units: b, kb, mb, gb, tb", unit)
}

func splitUnit(s string) (num, unit string) {
	s = strings.TrimSpace(s)
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	return s[:i], strings.ToLower(strings.TrimSpace(s[i:]))
}
