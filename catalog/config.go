package catalog

import (
	"errors"
	"fmt"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"

	"runnel/connectors"

	"runnel/types"
)

// Config holds the options of a session: values of SET over values that the process started with over the defaults of
// [ConfigKeys]. It is safe for concurrent use; a job reads a Copy, which nobody changes.
type Config struct {
	mu   sync.RWMutex
	base map[string]string // config.yaml, -D
	set  map[string]string
}

// NewConfig makes a Config without any value set.
func NewConfig() *Config { return &Config{base: map[string]string{}, set: map[string]string{}} }

// keysByName finds a key by its name or one of its older ones.
var keysByName = func() map[string]*ConfigKey {
	m := map[string]*ConfigKey{}
	for i := range ConfigKeys {
		k := &ConfigKeys[i]
		m[k.Key] = k
		for _, o := range k.Old {
			m[o] = k
		}
	}
	return m
}()

// KeyOf finds a key by its name or one of its older ones, nil when it is not known.
func KeyOf(name string) *ConfigKey { return keysByName[name] }

// Set sets a key for the session. The value of a known key is checked at once. notes are things that the user should know:
// an older name, a key without effect, a key that nobody knows.
func (c *Config) Set(name, value string) (notes []string, err error) {
	return c.store(name, value, false)
}

// SetBase sets a value that RESET goes back to: of config.yaml or the command line.
func (c *Config) SetBase(name, value string) (notes []string, err error) {
	return c.store(name, value, true)
}

func (c *Config) store(name, value string, base bool) (notes []string, err error) {
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	k := KeyOf(name)
	if k == nil {
		notes = append(notes, unknownKey(name))
	} else {
		if k.Effect == Refused {
			return nil, Errorf(ValidationError, "The option '%s' is not supported: %s.", name, k.Doc)
		}
		if value, notes, err = k.check(name, value); err != nil {
			return nil, err
		}
		name = k.Key
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if base {
		c.base[name] = value
	} else {
		c.set[name] = value
	}
	return notes, nil
}

const noEffect = "has no effect here"

// unknownKey words the warning for a key that is in no table.
func unknownKey(name string) string {
	for _, p := range configPrefixes {
		if strings.HasPrefix(name, p) {
			return fmt.Sprintf("'%s' %s.", name, noEffect)
		}
	}
	all := make([]string, 0, len(keysByName))
	for n := range keysByName {
		all = append(all, n)
	}
	sort.Strings(all)
	note := fmt.Sprintf("'%s' is no known option: it is kept, but changes nothing.", name)
	if hint := DidYouMean(name, all); hint != "" {
		note += " " + hint
	}
	return note
}

// misspelt are names that look like older ones but that Flink never had.
var misspelt = map[string]bool{"execution.parallelism": true, "table.exec.mini-batch.latency": true}

// check parses a value and gives it in the form to keep.
func (k *ConfigKey) check(name, value string) (kept string, notes []string, err error) {
	kept = value
	if name != k.Key {
		if misspelt[name] {
			notes = append(notes, fmt.Sprintf("'%s' is no option of Flink: '%s' is set.", name, k.Key))
		}
	}
	if k.Effect == Accepted && !strings.EqualFold(value, k.Default) {
		why := ""
		if k.Doc != "" {
			why = ": " + k.Doc
		}
		notes = append(notes, fmt.Sprintf("'%s' %s%s.", name, noEffect, why))
	}
	if value == "" && k.Kind != connectors.StringOption && k.Kind != connectors.ListOption {
		if k.Default == "" {
			return value, notes, nil
		}
		return kept, nil, k.bad(value, fmt.Errorf("an empty value"))
	}
	opts := connectors.Options{k.Key: value}
	switch k.Kind {
	case connectors.BoolOption:
		_, err = opts.Bool(k.Option)
	case connectors.IntOption, connectors.LongOption:
		var n int64
		if n, err = opts.Int(k.Option); err != nil {
			return kept, nil, Errorf("java.lang.NumberFormatException", "For input string: \"%s\"", value).Cure("'%s' wants a whole number.", k.Key)
		}
		err = k.inBounds(n, value)
	case connectors.FloatOption:
		_, err = strconv.ParseFloat(value, 64)
	case connectors.DurationOption:
		kept, err = k.duration(value)
	case connectors.MemoryOption:
		_, err = opts.Memory(k.Option)
	case connectors.EnumOption:
		var w string
		if w, err = opts.Enum(k.Option); err != nil && k.Key == "table.sql-dialect" {
			return kept, nil, Errorf(ArgumentError, "No enum constant org.apache.flink.table.api.SqlDialect.%s", strings.ToUpper(value))
		} else if err != nil {
			return kept, nil, k.badEnum(value)
		}
		kept = w
		if k.Key == "execution.runtime-mode" && w == "AUTOMATIC" {
			return kept, nil, Errorf(ArgumentError, "The runtime mode AUTOMATIC is not supported: set STREAMING or BATCH.")
		}
		if k.Key == "table.sql-dialect" && w != "default" {
			return kept, nil, Errorf(UnsupportedOp, "The SQL dialect '%s' is not supported: the dialect is always 'default'.", w)
		}
	default:
		var more []string
		kept, more, err = k.checkText(value)
		notes = append(notes, more...)
	}
	if _, ok := err.(*Error); !ok && err != nil {
		err = k.bad(value, err)
	}
	return kept, notes, err
}

func (k *ConfigKey) bad(value string, cause error) error {
	e := Errorf(ArgumentError, "Could not parse value '%s' for key '%s'.", value, k.Key)
	e.Err, e.Hint = cause, cause.Error()
	var refused *connectors.Refused
	if errors.As(cause, &refused) {
		e.Hint = refused.Msg
	}
	return e
}

func (k *ConfigKey) badEnum(value string) error {
	class := k.Enum
	if class == "" {
		return Errorf(ArgumentError, "Could not parse value for key '%s'. Expected one of: [[%s]]", k.Key, strings.Join(k.Values, ", "))
	}
	return Errorf(ArgumentError, "Could not parse value for enum class %s. Expected one of: [[%s]]", class, strings.Join(k.Values, ", ")).
		Cure("%s", strings.TrimSpace("This is the option '"+k.Key+"'. "+DidYouMean(value, k.Values)))
}

func (k *ConfigKey) inBounds(n int64, value string) error {
	if !k.Bounded || n >= k.Min && n <= k.Max {
		return nil
	}
	if k.Key == "execution.checkpointing.interval" {
		return Errorf(ArgumentError, "Checkpoint interval must be larger than or equal to 10 ms")
	}
	if k.Max >= 1<<62 {
		return Errorf(ArgumentError, "The value '%s' of the option '%s' is too small: at least %d.", value, k.Key, k.Min)
	}
	return Errorf(ArgumentError, "The value '%s' of the option '%s' must be between %d and %d.", value, k.Key, k.Min, k.Max)
}

// duration checks a duration; a leading minus is known to the buffer timeout only.
func (k *ConfigKey) duration(value string) (string, error) {
	rest, negative := strings.CutPrefix(value, "-")
	d, err := connectors.ParseDuration(rest)
	if err != nil {
		class := ArgumentError
		if strings.HasPrefix(err.Error(), "text does not") {
			class = "java.lang.NumberFormatException"
		}
		return value, Errorf(class, "%s", err).Cure("'%s' wants a duration such as '10 s', '1 min' or '500 ms'.", k.Key)
	}
	ms := d.Milliseconds()
	if negative {
		ms = -ms
	}
	return value, k.inBounds(ms, value)
}

// checkText checks values that have rules of their own.
func (k *ConfigKey) checkText(value string) (kept string, notes []string, err error) {
	switch k.Key {
	case "table.local-time-zone":
		if _, err := zone(value); err != nil {
			return value, nil, Errorf(ValidationError, "Invalid time zone. The value should be a Time Zone Database (TZDB) ID such as "+
				"'America/Los_Angeles' to include daylight saving time. Fixed offsets are supported using 'GMT-03:00' or 'GMT+03:00'. "+
				"Or use 'UTC' without time zone and daylight saving time.").Cure("'%s' is none of these.", value)
		}
	case "state.backend.type":
		return backend(value)
	case "rest.bind-port":
		if !portRanges.MatchString(value) {
			return value, nil, Errorf(ArgumentError, "'%s' is no port, range or list of them: 8081,50100-50200.", value)
		}
	case "restart-strategy.type":
		switch value {
		case "", "none", "off", "disable", "fixed-delay", "fixeddelay", "failure-rate", "failurerate", "exponential-delay", "exponentialdelay":
		default:
			return value, nil, Errorf(ArgumentError, "Unknown restart strategy '%s'. Expected one of: none, fixed-delay, failure-rate, exponential-delay.", value)
		}
	}
	return value, nil, nil
}

var portRanges = regexp.MustCompile(`^\s*\d{1,5}(-\d{1,5})?(\s*,\s*\d{1,5}(-\d{1,5})?)*\s*$`)

// backend maps Flink's state backends to the two there are.
func backend(value string) (kept string, notes []string, err error) {
	switch v := strings.ToLower(value); v {
	case "hashmap", "badger":
		return v, nil, nil
	case "rocksdb", "forst", "filesystem", "jobmanager":
		b := "badger"
		if v == "jobmanager" {
			b = "hashmap"
		}
		return b, []string{fmt.Sprintf("The state backend '%s' is '%s' here.", value, b)}, nil
	}
	return value, nil, Errorf(ValidationError, "Unknown state backend '%s'. Expected one of: badger, hashmap.", value)
}

func zone(value string) (*time.Location, error) {
	if value == "" {
		value = "default"
	}
	return types.ParseZone(value)
}

// Reset takes back what SET did to a key.
func (c *Config) Reset(name string) {
	if k := KeyOf(name); k != nil {
		name = k.Key
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.set, name)
}

// Clear makes a key as if nobody had ever set it, on the command line neither.
func (c *Config) Clear(name string) {
	c.Reset(name)
	if k := KeyOf(name); k != nil {
		name = k.Key
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.base, name)
}

// ResetAll takes back every SET.
func (c *Config) ResetAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.set = map[string]string{}
}

// List gives the values that somebody has set, sorted by key.
func (c *Config) List() []Option {
	c.mu.RLock()
	defer c.mu.RUnlock()
	var all []Option
	for k, v := range c.base {
		if _, over := c.set[k]; !over {
			all = append(all, Option{k, v})
		}
	}
	for k, v := range c.set {
		all = append(all, Option{k, v})
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Key < all[j].Key })
	return all
}

// Copy gives a snapshot that later changes of c do not touch.
func (c *Config) Copy() *Config {
	c.mu.RLock()
	defer c.mu.RUnlock()
	d := NewConfig()
	for k, v := range c.base {
		d.base[k] = v
	}
	for k, v := range c.set {
		d.set[k] = v
	}
	return d
}

// Lookup gives the value that somebody has set.
func (c *Config) Lookup(name string) (string, bool) {
	if k := KeyOf(name); k != nil {
		name = k.Key
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	if v, ok := c.set[name]; ok {
		return v, true
	}
	v, ok := c.base[name]
	return v, ok
}

// Get gives the value of a key, its default when nobody has set it.
func (c *Config) Get(name string) string {
	if v, ok := c.Lookup(name); ok {
		return v
	}
	if k := KeyOf(name); k != nil {
		return k.Default
	}
	return ""
}

// Bool gives a boolean; values were checked when they were set.
func (c *Config) Bool(name string) bool { return strings.EqualFold(c.Get(name), "true") }

// Int gives a whole number, 0 where there is none.
func (c *Config) Int(name string) int {
	n, _ := strconv.ParseInt(c.Get(name), 10, 64)
	return int(n)
}

// Float gives a number, 0 where there is none.
func (c *Config) Float(name string) float64 {
	f, _ := strconv.ParseFloat(c.Get(name), 64)
	return f
}

// Duration gives a duration, 0 where there is none.
func (c *Config) Duration(name string) time.Duration {
	v, negative := strings.CutPrefix(c.Get(name), "-")
	d, err := connectors.ParseDuration(v)
	if err != nil {
		return 0
	}
	if negative {
		return -d
	}
	return d
}

// Memory gives a size in bytes, 0 where there is none.
func (c *Config) Memory(name string) int64 {
	n, _ := connectors.ParseMemory(c.Get(name))
	return n
}

// Batch reports whether execution.runtime-mode is BATCH.
func (c *Config) Batch() bool { return c.Get("execution.runtime-mode") == "BATCH" }

// Zone gives table.local-time-zone.
func (c *Config) Zone() *time.Location {
	loc, err := zone(c.Get("table.local-time-zone"))
	if err != nil {
		return time.UTC
	}
	return loc
}
