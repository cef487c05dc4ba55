package catalog

import (
	"slices"

	"runnel/sql"
)

// inMemory is the one type of catalog there is.
const inMemory = "generic_in_memory"

func (c *Catalog) createCatalog(s *sql.CreateCatalog) error {
	name := s.Name.Last()
	opts := optionList(s.With)
	kind, first := "", "default"
	for _, o := range opts {
		switch o.Key {
		case "type":
			kind = o.Value
		case "default-database":
			first = o.Value
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.catalogs[name] != nil {
		if s.IfNotExists {
			return nil
		}
		return Errorf(CatalogError, "Catalog %s already exists.", name).Node(s.Name)
	}
	if kind == "" {
		return Errorf(ValidationError, "Catalog options do not contain an option key 'type' for discovering a catalog.").Node(s).
			Cure("Add WITH ('type' = '%s').", inMemory)
	}
	if kind != inMemory {
		return Errorf(ValidationError, "Could not find any factory for identifier '%s' that implements 'org.apache.flink.table.factories.CatalogFactory' "+
			"in the classpath.\n\nAvailable factory identifiers are:\n\n%s", kind, inMemory).Node(s).withHint(DidYouMean(kind, []string{inMemory}))
	}
	if err := checkCatalogOptions(opts); err != nil {
		return at(err, s.With)
	}
	st := newStore(first)
	st.options = opts
	if s.Comment != nil {
		st.comment = s.Comment.Text
	}
	c.catalogs[name] = st
	return nil
}

func checkCatalogOptions(opts []Option) error {
	for _, o := range opts {
		switch o.Key {
		case "type", "default-database", "property-version":
		default:
			return Errorf(ValidationError, "Unsupported options found for '%s'.\n\nUnsupported options:\n\n%s\n\nSupported options:\n\ndefault-database\nproperty-version",
				inMemory, o.Key)
		}
	}
	return nil
}

func (c *Catalog) alterCatalog(s *sql.AlterCatalog) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	name := s.Name.Last()
	st := c.catalogs[name]
	if st == nil {
		return Errorf(CatalogError, "Catalog %s does not exist in the catalog store.", name).Node(s.Name)
	}
	switch x := s.Action.(type) {
	case *sql.SetProperties:
		opts := slices.Clone(st.options)
		for _, o := range optionList(x.Props) {
			opts = set(opts, o.Key, o.Value)
		}
		if err := checkCatalogOptions(opts); err != nil {
			return at(err, x)
		}
		st.options = opts
	case *sql.ResetProperties:
		if len(x.Keys) == 0 {
			return Errorf(ValidationError, "ALTER CATALOG RESET does not support empty key").Node(x)
		}
		for _, k := range x.Keys {
			if k.Text == "type" {
				return Errorf(ValidationError, "ALTER CATALOG RESET does not support changing 'type'").Node(k)
			}
			st.options = slices.DeleteFunc(slices.Clone(st.options), func(o Option) bool { return o.Key == k.Text })
		}
	case *sql.SetComment:
		st.comment = x.Comment.Text
	default:
		return Errorf(UnsupportedOp, "This form of ALTER CATALOG is not supported.").Node(s)
	}
	return nil
}

func (c *Catalog) dropCatalog(s *sql.Drop) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	name := s.Name.Dotted()
	if c.catalogs[name] == nil {
		if s.IfExists {
			return nil
		}
		return Errorf(CatalogError, "Catalog %s does not exist.", name).Node(s.Name)
	}
	if name == c.current {
		return Errorf(CatalogError, "Cannot drop a catalog which is currently in use.").Node(s.Name)
	}
	delete(c.catalogs, name)
	return nil
}

func (c *Catalog) useCatalog(s *sql.UseCatalog) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	name := s.Name.Last()
	st := c.catalogs[name]
	if st == nil {
		return Errorf(CatalogError, "A catalog with name [%s] does not exist.", name).Node(s.Name).withHint(DidYouMean(name, c.catalogNames()))
	}
	c.current, c.database = name, ""
	if st.databases[st.first] != nil {
		c.database = st.first
	}
	return nil
}

func (c *Catalog) useDatabase(s *sql.Use) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	parts := s.Name.Strings()
	catalog, database := c.current, parts[len(parts)-1]
	switch len(parts) {
	case 1:
	case 2:
		catalog = parts[0]
		if c.catalogs[catalog] == nil {
			return Errorf(CatalogError, "A catalog with name [%s] does not exist.", catalog).Node(s.Name).withHint(DidYouMean(catalog, c.catalogNames()))
		}
		if catalog != c.current { // the catalog is switched even when the database is missing, as in Flink
			c.current, c.database = catalog, ""
			if st := c.catalogs[catalog]; st.databases[st.first] != nil {
				c.database = st.first
			}
		}
	default:
		return Errorf(ValidationError, "use database identifier format error").Node(s.Name)
	}
	if c.db(catalog, database) == nil {
		return Errorf(CatalogError, "A database with name [%s] does not exist in the catalog: [%s].", database, catalog).Node(s.Name).
			withHint(DidYouMean(database, c.databaseNames(catalog)))
	}
	c.database = database
	return nil
}

// databasePath completes the name of a database.
func (c *Catalog) databasePath(n *sql.Name) (catalog, database string, err error) {
	parts := n.Strings()
	switch len(parts) {
	case 1:
		return c.current, parts[0], nil
	case 2:
		return parts[0], parts[1], nil
	}
	return "", "", Errorf(ValidationError, "database identifier format error").Node(n)
}

func (c *Catalog) createDatabase(s *sql.CreateDatabase) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	catalog, name, err := c.databasePath(s.Name)
	if err != nil {
		return err
	}
	st := c.catalogs[catalog]
	if st == nil {
		return Errorf(ValidationError, "Catalog %s does not exist", catalog).Node(s.Name)
	}
	if st.databases[name] != nil {
		if s.IfNotExists {
			return nil
		}
		return Errorf(exceptions+"DatabaseAlreadyExistException", "Database %s already exists in Catalog %s.", name, catalog).Node(s.Name)
	}
	db := newDatabase()
	db.options = optionList(s.With)
	if s.Comment != nil {
		db.comment = s.Comment.Text
	}
	st.databases[name] = db
	return nil
}

func (c *Catalog) alterDatabase(s *sql.AlterDatabase) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	catalog, name, err := c.databasePath(s.Name)
	if err != nil {
		return err
	}
	if c.catalogs[catalog] == nil {
		return Errorf(ValidationError, "Catalog %s does not exist", catalog).Node(s.Name)
	}
	db := c.db(catalog, name)
	if db == nil {
		return noDatabase(catalog, name).Node(s.Name)
	}
	x, ok := s.Action.(*sql.SetProperties)
	if !ok {
		return Errorf(UnsupportedOp, "This form of ALTER DATABASE is not supported.").Node(s)
	}
	opts := slices.Clone(db.options)
	for _, o := range optionList(x.Props) {
		opts = set(opts, o.Key, o.Value)
	}
	db.options = opts
	return nil
}

func (c *Catalog) dropDatabase(s *sql.Drop) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	catalog, name, err := c.databasePath(s.Name)
	if err != nil {
		return err
	}
	st := c.catalogs[catalog]
	if st == nil {
		if s.IfExists {
			return nil
		}
		return Errorf("org.apache.flink.table.api.CatalogNotExistException", "Catalog %s does not exist.", catalog).Node(s.Name)
	}
	db := st.databases[name]
	if db == nil {
		if s.IfExists {
			return nil
		}
		return noDatabase(catalog, name).Node(s.Name).withHint(DidYouMean(name, c.databaseNames(catalog)))
	}
	if catalog == c.current && name == c.database {
		return Errorf(ValidationError, "Cannot drop a database which is currently in use.").Node(s.Name)
	}
	if s.Behavior != "CASCADE" && len(db.objects)+len(db.functions) > 0 {
		return Errorf(exceptions+"DatabaseNotEmptyException", "Database %s in catalog %s is not empty.", name, catalog).Node(s.Name).
			Cure("DROP DATABASE %s CASCADE; drops what is in it too.", s.Name.Dotted())
	}
	delete(st.databases, name)
	return nil
}
