package catalog

import "runnel/sql"

// like answers what a LIKE clause does with each feature of the base table. The zero value stands for no LIKE at all.
type like struct {
	how map[string]sql.LikeMerge // by feature; what is not written is decided by ALL
}

var overwritable = map[string]bool{"GENERATED": true, "METADATA": true, "WATERMARKS": true, "OPTIONS": true}

func newLike(l *sql.LikeClause) like {
	if l == nil {
		return like{}
	}
	how := map[string]sql.LikeMerge{}
	for _, o := range l.Options {
		how[o.Feature] = o.Merge
	}
	return like{how}
}

// checkLike refuses options of a LIKE clause that cannot be.
func checkLike(l *sql.LikeClause) error {
	seen := map[string]bool{}
	for _, o := range l.Options {
		if seen[o.Feature] {
			return Errorf(SyntaxError, "Each like option feature can be declared only once.").Node(o)
		}
		seen[o.Feature] = true
		if o.Merge == sql.Overwriting && !overwritable[o.Feature] {
			return Errorf(SyntaxError, "Illegal merging strategy 'OVERWRITING' for '%s' option.", o.Feature).Node(o)
		}
	}
	return nil
}

// merge gives the strategy for a feature. OPTIONS are overwritten unless the clause says otherwise.
func (l like) merge(feature string) sql.LikeMerge {
	if m, ok := l.how[feature]; ok {
		return m
	}
	if m, ok := l.how["ALL"]; ok {
		return m
	}
	if feature == "OPTIONS" {
		return sql.Overwriting
	}
	return sql.Including
}

func (l like) keeps(feature string) bool { return l.merge(feature) != sql.Excluding }

// likeBase finds the table behind LIKE.
func (c *Catalog) likeBase(s *sql.CreateTable) (*Table, error) {
	if err := checkLike(s.Like); err != nil {
		return nil, err
	}
	p, err := c.Resolve(s.Like.Table)
	if err != nil {
		return nil, err
	}
	o, ok := c.Find(p)
	if !ok {
		return nil, Errorf(ValidationError, "Source table '%s' of the LIKE clause not found in the catalog, at %s", p.Quoted(), s.Like.Table.Pos()).
			Node(s.Like.Table).withHint(DidYouMean(p.Name, c.Names(p.Catalog, p.Database)))
	}
	t, ok := o.(*Table)
	if !ok {
		return nil, Errorf(ValidationError, "Source table '%s' of the LIKE clause can not be a VIEW, at %s", p.Quoted(), s.Like.Table.Pos()).
			Node(s.Like.Table)
	}
	return t, nil
}

// inherit takes over the columns of the base table. A computed or metadata column that the statement overwrites keeps its
// place.
func (r *resolver) inherit(elems []sql.TableElement) error {
	overwritten := map[string]Column{}
	for _, el := range elems {
		def, ok := el.(*sql.ColumnDef)
		if !ok || def.Kind == sql.PhysicalColumn {
			continue
		}
		base := r.base.Column(def.Name.Parts[0].Name)
		if base < 0 || r.base.Columns[base].Kind != def.Kind || r.like.merge(featureOf(def.Kind)) != sql.Overwriting {
			continue
		}
		col, err := columnOf(def)
		if err != nil {
			return err
		}
		overwritten[col.Name] = col
	}
	for _, col := range r.base.Columns {
		if f := featureOf(col.Kind); f != "" && !r.like.keeps(f) {
			continue
		}
		if c, ok := overwritten[col.Name]; ok {
			col = c
		}
		col.Type = col.Type.Plain()
		r.t.Columns = append(r.t.Columns, col)
	}
	return nil
}

func featureOf(k sql.ColumnKind) string {
	switch k {
	case sql.ComputedColumn:
		return "GENERATED"
	case sql.MetadataColumn:
		return "METADATA"
	}
	return ""
}

// clash handles a column that the base table has too.
func (r *resolver) clash(old int, col Column, def *sql.ColumnDef) error {
	base := r.t.Columns[old].Kind
	feature := featureOf(col.Kind)
	switch {
	case base != col.Kind:
		word := "compute"
		if base == sql.MetadataColumn || col.Kind == sql.MetadataColumn {
			word = "metadata"
		}
		return Errorf(ValidationError, "A column named '%s' already exists in the table. Duplicate columns exist in the %s column and regular column. ",
			col.Name, word).Node(def.Name)
	case feature == "":
		return Errorf(ValidationError, "A column named '%s' already exists in the base table.", col.Name).Node(def.Name)
	case r.like.merge(feature) == sql.Overwriting:
		return nil // inherit has put the new one in its place
	}
	word := "generated"
	if feature == "METADATA" {
		word = "metadata"
	}
	return Errorf(ValidationError, "A %s column named '%s' already exists in the base table. You might want to specify EXCLUDING %s or OVERWRITING %s.",
		word, col.Name, feature, feature).Node(def.Name)
}
