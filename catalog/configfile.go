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

// LoadFile reads a config.yaml in Flink's format into the values that RESET goes back to: nested keys, flat ones with
// dots, or both. Lists become a;b and, where a key wants them so, maps a:b,c:d. notes are warnings as of [Config.Set].
func (c *Config) LoadFile(path string) (notes []string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxConfigFile+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxConfigFile {
		return nil, fmt.Errorf("reading %s: larger than %d bytes", path, maxConfigFile)
	}
	return c.load(path, text)
}

func (c *Config) load(name string, text []byte) (notes []string, err error) {
	var root yaml.Node
	if err := yaml.Unmarshal(text, &root); err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	if len(root.Content) == 0 {
		return nil, nil
	}
	top := root.Content[0]
	if top.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("reading %s: line %d: keys and values expected", name, top.Line)
	}
	values := map[string]*yaml.Node{}
	if err := flatten(top, "", values, 0); err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	keys := make([]string, 0, len(values))
	for k := range values {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	var idle []string // keys without effect: a configuration of Flink has many
	for _, k := range keys {
		more, err := c.SetBase(k, yamlText(values[k]))
		if err != nil {
			return notes, fmt.Errorf("reading %s: line %d: %s: %w", name, values[k].Line, k, err)
		}
		if len(more) == 1 && strings.Contains(more[0], noEffect) {
			idle = append(idle, k)
			continue
		}
		notes = append(notes, more...)
	}
	if len(idle) > 0 {
		notes = append(notes, fmt.Sprintf("%s: these options %s: %s", name, strings.Replace(noEffect, "has", "have", 1), strings.Join(idle, ", ")))
	}
	return notes, nil
}

// flatten puts the leaves of nested mappings under dotted keys.
func flatten(n *yaml.Node, prefix string, out map[string]*yaml.Node, depth int) error {
	if depth > 50 {
		return fmt.Errorf("line %d: nested more than 50 deep", n.Line)
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if v.Kind == yaml.AliasNode {
			v = v.Alias
		}
		key := prefix + k.Value
		if v.Kind == yaml.MappingNode {
			known := KeyOf(key)
			if known == nil || known.Default != "" || len(v.Content) == 0 || !isMapKey(key) {
				if err := flatten(v, key+".", out, depth+1); err != nil {
					return err
				}
				continue
			}
		}
		if v.Kind == yaml.ScalarNode && v.Tag == "!!null" {
			continue
		}
		if _, twice := out[key]; twice {
			return fmt.Errorf("line %d: %s is there twice", k.Line, key)
		}
		out[key] = v
	}
	return nil
}

// isMapKey reports whether a key's value is a map, so that what is nested below it is no further key.
func isMapKey(key string) bool {
	return key == "pipeline.global-job-parameters" || key == "pipeline.jobvertex-parallelism-overrides"
}

// yamlText gives a value as SET would have it.
func yamlText(n *yaml.Node) string {
	switch n.Kind {
	case yaml.SequenceNode:
		parts := make([]string, len(n.Content))
		for i, c := range n.Content {
			parts[i] = yamlText(c)
		}
		return strings.Join(parts, ";")
	case yaml.MappingNode:
		var parts []string
		for i := 0; i+1 < len(n.Content); i += 2 {
			parts = append(parts, n.Content[i].Value+":"+yamlText(n.Content[i+1]))
		}
		return strings.Join(parts, ",")
	case yaml.AliasNode:
		return yamlText(n.Alias)
	}
	return n.Value
}
