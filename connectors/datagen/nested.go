package datagen

import (
	"fmt"

	"runnel/connectors"
	"runnel/types"
)

// randomNested makes ROW, ARRAY, MAP and MULTISET values; options of their parts have the part's name in the key.
func randomNested(path string, t types.Type, o connectors.Options) (func(*noise, *types.Column), error) {
	switch t.Kind {
	case types.Row:
		fields := make([]func(*noise) types.Datum, len(t.Fields))
		for i, f := range t.Fields {
			g, err := datum(path+"."+f.Name, f.Type, o)
			if err != nil {
				return nil, err
			}
			fields[i] = g
		}
		return func(r *noise, c *types.Column) {
			v := &types.Tuple{Fields: make([]types.Datum, len(fields))}
			for i, g := range fields {
				v.Fields[i] = g(r)
			}
			c.AppendAny(v)
		}, nil
	case types.Array:
		n, err := size(path, o)
		if err != nil {
			return nil, err
		}
		elem, err := datum(path+".element", *t.Elem, o)
		if err != nil {
			return nil, err
		}
		return func(r *noise, c *types.Column) {
			v := &types.List{Elems: make([]types.Datum, n)}
			for i := range v.Elems {
				v.Elems[i] = elem(r)
			}
			c.AppendAny(v)
		}, nil
	case types.Map, types.Multiset:
		return randomMap(path, t, o)
	}
	return nil, fmt.Errorf("column '%s': datagen makes no values of type %s", path, t)
}

func randomMap(path string, t types.Type, o connectors.Options) (func(*noise, *types.Column), error) {
	n, err := size(path, o)
	if err != nil {
		return nil, err
	}
	keyPath, keyType := path+".element", *t.Elem
	if t.Kind == types.Map {
		keyPath, keyType = path+".key", *t.Key
	}
	key, err := datum(keyPath, keyType, o)
	if err != nil {
		return nil, err
	}
	val := func(r *noise) types.Datum { return types.IntDatum(r.Int64N(11)) }
	if t.Kind == types.Map {
		if val, err = datum(path+".value", *t.Elem, o); err != nil {
			return nil, err
		}
	}
	return func(r *noise, c *types.Column) {
		v := &types.MapValue{}
		for range n {
			k := key(r)
			if !contains(v.Keys, k) {
				v.Keys, v.Vals = append(v.Keys, k), append(v.Vals, val(r))
			}
		}
		c.AppendAny(v)
	}, nil
}

// contains compares scalars; keys that are nested values count as different.
func contains(keys []types.Datum, k types.Datum) bool {
	for _, x := range keys {
		if x.A == nil && k.A == nil && x == k {
			return true
		}
	}
	return false
}

func size(path string, o connectors.Options) (int64, error) {
	key := at(length, path)
	if _, set := o[key.Key]; !set {
		return 3, nil
	}
	n, err := o.Int(key)
	if err == nil && (n < 0 || n > 1<<16) {
		err = fmt.Errorf("Invalid value for option '%s': %d elements; 0 to %d are made", key.Key, n, 1<<16)
	}
	return n, err
}

// datum turns a column generator into one of single values.
func datum(path string, t types.Type, o connectors.Options) (func(*noise) types.Datum, error) {
	g, err := random(path, t, o)
	if err != nil {
		return nil, err
	}
	c := types.NewColumn(t, 1)
	return func(r *noise) types.Datum {
		c.Reset()
		g(r, c)
		return c.At(0)
	}, nil
}

// appendDecimal rounds v half up to the column's scale and keeps it within its precision.
func appendDecimal(c *types.Column, v float64) {
	t := c.Type
	d, ok := types.DecimalOfFloat(v, t.Precision, t.Scale)
	if !ok {
		d, _ = types.Pow10(t.Precision).Sub(types.Int128Of(1))
		if v < 0 {
			d = d.Neg()
		}
	}
	if c.Phys() == types.PhysInt {
		c.AppendInt(int64(d.Lo))
		return
	}
	c.AppendWide(d)
}
