package catalog

import (
	"sort"
	"strings"

	"runnel/sql"
)

// noClass is what becomes of a function written in another language: its class cannot be loaded.
func noClass(class string, at sql.Node) *Error {
	return Errorf("java.lang.ClassNotFoundException", "%s", class).Node(at).Cure("Classes are not loaded here: functions are built in, SHOW FUNCTIONS lists them.")
}

// createFunction registers a function. Its class is wanted at once for a temporary one, else when it is called, as in
// Flink; there is none either way.
func (c *Catalog) createFunction(s *sql.CreateFunction) error {
	if s.System && !s.Temporary {
		return Errorf(SyntaxError, "CREATE SYSTEM FUNCTION is not supported, system functions can only be registered as temporary function, "+
			"you can use CREATE TEMPORARY SYSTEM FUNCTION instead.").Node(s)
	}
	if s.Temporary {
		return noClass(s.Class.Text, s.Class)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	p, err := c.resolve(s.Name)
	if err != nil {
		return err
	}
	if err := c.wantDatabase(p.Catalog, p.Database); err != nil {
		return at(err, s.Name)
	}
	db := c.db(p.Catalog, p.Database)
	key := strings.ToLower(p.Name)
	if _, ok := db.functions[key]; ok {
		if s.IfNotExists {
			return nil
		}
		return Errorf(exceptions+"FunctionAlreadyExistException", "Function %s.%s already exists in Catalog %s.", p.Database, p.Name, p.Catalog).Node(s.Name)
	}
	db.functions[key] = Function{Path: p, Class: s.Class.Text, Language: s.Language}
	return nil
}

func (c *Catalog) alterFunction(s *sql.AlterFunction) error {
	if s.Temporary {
		word := "catalog"
		if s.System {
			word = "system"
		}
		return Errorf(ValidationError, "Alter temporary %s function is not supported", word).Node(s)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	p, err := c.resolve(s.Name)
	if err != nil {
		return err
	}
	db, key := c.db(p.Catalog, p.Database), strings.ToLower(p.Name)
	if db != nil {
		if f, ok := db.functions[key]; ok {
			f.Class, f.Language = s.Class.Text, s.Language
			db.functions[key] = f
			return nil
		}
	}
	if s.IfExists {
		return nil
	}
	return noFunction(p).Node(s.Name)
}

func noFunction(p Path) *Error {
	return Errorf(exceptions+"FunctionNotExistException", "Function %s.%s does not exist in Catalog %s.", p.Database, p.Name, p.Catalog)
}

func (c *Catalog) dropFunction(s *sql.Drop) error {
	if s.System {
		if s.IfExists {
			return nil
		}
		return Errorf(ValidationError, "Could not drop temporary system function. A function named '%s' doesn't exist.", s.Name.Dotted()).Node(s.Name)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	p, err := c.resolve(s.Name)
	if err != nil {
		return err
	}
	if s.Temporary {
		if s.IfExists {
			return nil
		}
		return Errorf(ValidationError, "Temporary catalog function %s doesn't exist", p.Quoted()).Node(s.Name)
	}
	if db := c.db(p.Catalog, p.Database); db != nil {
		if _, ok := db.functions[strings.ToLower(p.Name)]; ok {
			delete(db.functions, strings.ToLower(p.Name))
			return nil
		}
	}
	if s.IfExists {
		return nil
	}
	return noFunction(p).Node(s.Name)
}

// FindFunction gives the user's function that a name means, for the error of a call.
func (c *Catalog) FindFunction(n *sql.Name) (Function, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	p, err := c.resolve(n)
	if err != nil {
		return Function{}, false
	}
	if db := c.db(p.Catalog, p.Database); db != nil {
		f, ok := db.functions[strings.ToLower(p.Name)]
		return f, ok
	}
	return Function{}, false
}

// UserFunctions lists the user's functions of a database, nil for the current one, sorted.
func (c *Catalog) UserFunctions(in *sql.Name) []string {
	c.mu.RLock()
	defer c.mu.RUnlock()
	catalog, database := c.current, c.database
	if in != nil {
		parts := in.Strings()
		database = parts[len(parts)-1]
		if len(parts) > 1 {
			catalog = parts[len(parts)-2]
		}
	}
	var names []string
	if db := c.db(catalog, database); db != nil {
		for n := range db.functions {
			names = append(names, n)
		}
	}
	sort.Strings(names)
	return names
}

// Modules lists the modules in order of resolution with whether each is used.
func (c *Catalog) Modules() (names []string, used []bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, m := range c.modules {
		names, used = append(names, m.name), append(used, m.used)
	}
	return names, used
}

func (c *Catalog) module(name string) *module {
	for i := range c.modules {
		if c.modules[i].name == name {
			return &c.modules[i]
		}
	}
	return nil
}

func (c *Catalog) loadModule(s *sql.LoadModule) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	name := s.Name.Name
	for _, o := range optionList(s.With) {
		if o.Key == "type" {
			return Errorf(ValidationError, "Option 'type' = '%s' is not supported since module name is used to find module", o.Value).Node(s.With)
		}
	}
	if c.module(name) != nil {
		return Errorf(ValidationError, "A module with name '%s' already exists", name).Node(&s.Name)
	}
	if name != "core" {
		return Errorf(ValidationError, "Could not find any factory for identifier '%s' that implements 'org.apache.flink.table.factories.ModuleFactory' "+
			"in the classpath.\n\nAvailable factory identifiers are:\n\ncore", name).Node(&s.Name)
	}
	c.modules = append(c.modules, module{name, true})
	return nil
}

func (c *Catalog) unloadModule(s *sql.UnloadModule) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, m := range c.modules {
		if m.name == s.Name.Name {
			c.modules = append(c.modules[:i:i], c.modules[i+1:]...)
			return nil
		}
	}
	return Errorf(ValidationError, "No module with name '%s' exists", s.Name.Name).Node(&s.Name)
}

func (c *Catalog) useModules(s *sql.UseModules) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var order []module
	seen := map[string]bool{}
	for i := range s.Names {
		n := &s.Names[i]
		if seen[n.Name] {
			return Errorf(ValidationError, "Module '%s' appears more than once", n.Name).Node(n)
		}
		if c.module(n.Name) == nil {
			return Errorf(ValidationError, "No module with name '%s' exists", n.Name).Node(n)
		}
		seen[n.Name] = true
		order = append(order, module{n.Name, true})
	}
	for _, m := range c.modules {
		if !seen[m.name] {
			order = append(order, module{m.name, false})
		}
	}
	c.modules = order
	return nil
}

// CoreUsed reports whether the module of the built-in functions is in use.
func (c *Catalog) CoreUsed() bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	m := c.module("core")
	return m != nil && m.used
}
