package catalog

import (
	"fmt"
	"io"
	"os"
	"sort"
	"strings"

	"gopkg.in/yaml.v3"
)

// maxConfigFile is the greatest size of a config.yaml.
const maxConfigFile = 1 << 20

// LoadFile reads a config.yaml in Flink's format as values that RESET goes back to: nested keys or dotted ones, lists as a
// sequence or separated by semicolons.
func (c *Config) LoadFile(path string) (notes []string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxConfigFile+1))
	if err != nil {
		return nil, err
	}
	if len(b) > maxConfigFile {
		return nil, fmt.Errorf("%s: larger than %d bytes", path, maxConfigFile)
	}
	var doc map[string]any
	if err := yaml.Unmarshal(b, &doc); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	flat := map[string]string{}
	flatten("", doc, flat)
	keys := make([]string, 0, len(flat))
	for k := range flat {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		more, err := c.SetBase(k, flat[k])
		if err != nil {
			return nil, fmt.Errorf("%s: key '%s': %w", path, k, err)
		}
		notes = append(notes, more...)
	}
	return notes, nil
}

// flatten writes the leaves of a tree under their dotted names. yaml bounds the depth of the tree by refusing cycles.
func flatten(prefix string, v any, to map[string]string) {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			if prefix != "" {
				k = prefix + "." + k
			}
			flatten(k, x, to)
		}
	case []any:
		parts := make([]string, len(v))
		for i, x := range v {
			parts[i] = fmt.Sprint(x)
		}
		to[prefix] = strings.Join(parts, ";")
	case nil:
		to[prefix] = ""
	default:
		to[prefix] = fmt.Sprint(v)
	}
}
