package catalog

import (
	"slices"
	"sort"
	"strings"
	"sync"

	"runnel/sql"
)

// The names that a session starts with, unless table.builtin-catalog-name and table.builtin-database-name say otherwise.
const (
	DefaultCatalog  = "default_catalog"
	DefaultDatabase = "default_database"
)

// Catalog is the set of all named objects of a session.
type Catalog struct {
	mu       sync.RWMutex
	catalogs map[string]*store
	current  string
	database string
	temp     map[Path]Object // temporary tables and views
	modules  []module
}

// store is one catalog with its databases.
type store struct {
	comment   string
	options   []Option
	first     string // the database that USE CATALOG goes to
	databases map[string]*database
}

type database struct {
	comment   string
	options   []Option
	objects   map[string]Object
	functions map[string]Function
}

type module struct {
	name string
	used bool
}

// New makes a catalog that holds one database of the default names.
func New() *Catalog { return NewNamed(DefaultCatalog, DefaultDatabase) }

// NewNamed makes a catalog that holds one database of the given names.
func NewNamed(catalog, database string) *Catalog {
	return &Catalog{
		catalogs: map[string]*store{catalog: newStore(database)},
		current:  catalog,
		database: database,
		temp:     map[Path]Object{},
		modules:  []module{{"core", true}},
	}
}

func newStore(first string) *store {
	return &store{first: first, databases: map[string]*database{first: newDatabase()}}
}

func newDatabase() *database {
	return &database{objects: map[string]Object{}, functions: map[string]Function{}}
}

// Current gives the current catalog and database, "" where none is set.
func (c *Catalog) Current() (catalog, database string) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.current, c.database
}

// Resolve completes a name of one to three parts with the current catalog and database.
func (c *Catalog) Resolve(n *sql.Name) (Path, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.resolve(n)
}

func (c *Catalog) resolve(n *sql.Name) (Path, error) { return resolveIn(n, c.current, c.database) }

// resolveIn completes a name with a catalog and a database.
func resolveIn(n *sql.Name, catalog, database string) (Path, error) {
	parts := n.Strings()
	p := Path{catalog, database, parts[len(parts)-1]}
	switch len(parts) {
	case 1:
	case 2:
		p.Database = parts[0]
	case 3:
		p.Catalog, p.Database = parts[0], parts[1]
	default:
		return p, Errorf(ValidationError, "Object identifier must consist of 1 to 3 parts.").Node(n)
	}
	if p.Catalog == "" {
		return p, Errorf(ValidationError, "A current catalog has not been set. Please use a fully qualified identifier "+
			"(such as 'my_catalog.my_database.my_table') or set a current catalog using USE CATALOG.").Node(n)
	}
	if p.Database == "" {
		return p, Errorf(ValidationError, "A current database has not been set. Please use a fully qualified identifier "+
			"(such as 'my_database.my_table' or 'my_catalog.my_database.my_table') or set a current database using USE.").Node(n)
	}
	return p, nil
}

// Find gives the table or view of a path, the temporary one first.
func (c *Catalog) Find(p Path) (Object, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.find(p)
}

func (c *Catalog) find(p Path) (Object, bool) {
	if o, ok := c.temp[p]; ok {
		return o, true
	}
	return c.permanent(p)
}

func (c *Catalog) permanent(p Path) (Object, bool) {
	if db := c.db(p.Catalog, p.Database); db != nil {
		o, ok := db.objects[p.Name]
		return o, ok
	}
	return nil, false
}

func (c *Catalog) db(catalog, database string) *database {
	if s := c.catalogs[catalog]; s != nil {
		return s.databases[database]
	}
	return nil
}

// Lookup finds what a name in a query means. In the query of a view, catalog and database are those that were current when
// the view was made; else they are "".
func (c *Catalog) Lookup(n *sql.Name, catalog, database string) (Object, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	inView := catalog != ""
	if !inView {
		catalog, database = c.current, c.database
	}
	p, err := resolveIn(n, catalog, database)
	if err != nil {
		return nil, err
	}
	if o, ok := c.find(p); ok {
		return o, nil
	}
	if inView { // the view's text holds full names
		n = &sql.Name{Span: n.Span, Parts: sql.NewName(p.Catalog, p.Database, p.Name).Parts}
	}
	return nil, c.notFound(n, p)
}

// notFound says which part of a name is not there, in the words of Flink's validator.
func (c *Catalog) notFound(n *sql.Name, p Path) *Error {
	parts := n.Strings()
	e := Errorf(NameError, "Object '%s' not found", parts[len(parts)-1])
	switch {
	case c.catalogs[p.Catalog] == nil:
		e = Errorf(NameError, "Object '%s' not found", parts[0])
	case c.db(p.Catalog, p.Database) == nil:
		e = Errorf(NameError, "Object '%s' not found", p.Database)
		if len(parts) == 3 {
			e.Msg += " within '" + p.Catalog + "'"
		}
		e.Hint = DidYouMean(p.Database, c.databaseNames(p.Catalog))
	default:
		names := c.names(p.Catalog, p.Database)
		i := slices.IndexFunc(names, func(n string) bool { return strings.EqualFold(n, p.Name) })
		if len(parts) > 1 || i >= 0 {
			e.Msg += " within '" + p.Catalog + "." + p.Database + "'"
		}
		if i >= 0 {
			e.Msg += "; did you mean '" + names[i] + "'?"
			break
		}
		e.Hint = DidYouMean(p.Name, names)
	}
	return e.Node(n)
}

// Names lists the tables and views of a database, sorted; temporary ones are among them.
func (c *Catalog) Names(catalog, database string) []string {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.names(catalog, database)
}

func (c *Catalog) names(catalog, database string) []string {
	return c.list(catalog, database, func(Object) bool { return true })
}

func (c *Catalog) list(catalog, database string, want func(Object) bool) []string {
	var names []string
	if db := c.db(catalog, database); db != nil {
		for n, o := range db.objects {
			if want(o) {
				names = append(names, n)
			}
		}
	}
	for p, o := range c.temp {
		if p.Catalog == catalog && p.Database == database && want(o) {
			names = append(names, p.Name)
		}
	}
	sort.Strings(names)
	return slices.Compact(names)
}

func (c *Catalog) databaseNames(catalog string) []string {
	var names []string
	if s := c.catalogs[catalog]; s != nil {
		for n := range s.databases {
			names = append(names, n)
		}
	}
	sort.Strings(names)
	return names
}

// Catalogs lists the catalogs, sorted.
func (c *Catalog) Catalogs() []string {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.catalogNames()
}

func (c *Catalog) catalogNames() []string {
	names := make([]string, 0, len(c.catalogs))
	for n := range c.catalogs {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

// Databases lists the databases of a catalog ("": the current one), sorted.
func (c *Catalog) Databases(catalog string) ([]string, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if catalog == "" {
		catalog = c.current
	}
	if c.catalogs[catalog] == nil {
		return nil, Errorf(ValidationError, "Catalog %s does not exist", catalog)
	}
	return c.databaseNames(catalog), nil
}

// Tables lists tables and views (views only, if asked) of the database that in names, nil for the current one. The rows
// are sorted.
func (c *Catalog) Tables(in *sql.Name, viewsOnly bool) ([]string, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	catalog, database := c.current, c.database
	if in != nil {
		switch parts := in.Strings(); len(parts) {
		case 1:
			database = parts[0]
		case 2:
			catalog, database = parts[0], parts[1]
		default:
			return nil, Errorf(ValidationError, "show tables from/in identifier [ %s ] format error", in.Dotted()).Node(in)
		}
		if c.db(catalog, database) == nil {
			return nil, Errorf(ValidationError, "Database '%s'.'%s' doesn't exist.", catalog, database).Node(in)
		}
	}
	return c.list(catalog, database, func(o Object) bool {
		_, view := o.(*View)
		return view || !viewsOnly
	}), nil
}

// Add stores a table or view. With ifNotExists an object of that name stays and nothing happens.
func (c *Catalog) Add(o Object, ifNotExists bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := o.ObjectPath()
	if o.IsTemporary() {
		if _, ok := c.temp[p]; ok && !ifNotExists {
			return Errorf(ValidationError, "Temporary table '%s' already exists", p.Quoted())
		} else if ok {
			return nil
		}
		c.temp[p] = o
		return nil
	}
	if err := c.wantDatabase(p.Catalog, p.Database); err != nil {
		return err
	}
	db := c.db(p.Catalog, p.Database)
	if _, ok := db.objects[p.Name]; ok {
		if ifNotExists {
			return nil
		}
		return tableExists(p)
	}
	db.objects[p.Name] = o
	return nil
}

// Replace stores a table in place of the one of its name, if there is one.
func (c *Catalog) Replace(t *Table) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := t.ObjectPath()
	if err := c.wantDatabase(p.Catalog, p.Database); err != nil {
		return err
	}
	c.db(p.Catalog, p.Database).objects[p.Name] = t
	return nil
}

func (c *Catalog) wantDatabase(catalog, database string) error {
	if c.catalogs[catalog] == nil {
		return Errorf(ValidationError, "Catalog %s does not exist.", catalog)
	}
	if c.db(catalog, database) == nil {
		return noDatabase(catalog, database)
	}
	return nil
}

// Exists reports whether a permanent object, or with temporary a temporary one, has the path.
func (c *Catalog) Exists(p Path, temporary bool) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if temporary {
		_, ok := c.temp[p]
		return ok
	}
	_, ok := c.permanent(p)
	return ok
}

// drop is DROP [TEMPORARY] TABLE|VIEW.
func (c *Catalog) drop(d *sql.Drop) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	p, err := c.resolve(d.Name)
	if err != nil {
		return err
	}
	word, kind, other := "Table", "table", "view"
	if d.Object == sql.ObjectView {
		word, kind, other = "View", "view", "table"
	}
	is := func(o Object) bool {
		_, view := o.(*View)
		return view == (d.Object == sql.ObjectView)
	}
	temp, hasTemp := c.temp[p]
	if d.Temporary {
		if !hasTemp || !is(temp) {
			if d.IfExists {
				return nil
			}
			return Errorf(ValidationError, "Temporary table or view with identifier '%s' does not exist.", p).Node(d.Name)
		}
		delete(c.temp, p)
		return nil
	}
	if hasTemp && is(temp) {
		return Errorf(ValidationError, "Temporary %s with identifier '%s' exists. Drop it first before removing the permanent %s.",
			kind, p.Quoted(), kind).Node(d.Name).Cure("DROP TEMPORARY %s %s;", strings.ToUpper(kind), d.Name.Dotted())
	}
	o, ok := c.permanent(p)
	if !ok || !is(o) {
		if d.IfExists {
			return nil
		}
		e := Errorf(ValidationError, "%s with identifier '%s' does not exist.", word, p).Node(d.Name)
		if ok {
			return e.Cure("It is a %s: DROP %s %s;", other, strings.ToUpper(other), d.Name.Dotted())
		}
		return e.withHint(DidYouMean(p.Name, c.names(p.Catalog, p.Database)))
	}
	delete(c.db(p.Catalog, p.Database).objects, p.Name)
	return nil
}

// replace stores a changed object in place of the old one.
func (c *Catalog) replace(o Object) {
	p := o.ObjectPath()
	if o.IsTemporary() {
		c.temp[p] = o
		return
	}
	c.db(p.Catalog, p.Database).objects[p.Name] = o
}
