package catalog

import "runnel/sql"

// Apply runs a statement that changes catalogs and what is in them: CREATE (but for CREATE TABLE .. AS), ALTER, DROP, USE,
// and LOAD and UNLOAD MODULE. handled is false for any other statement.
func (c *Catalog) Apply(s sql.Stmt, b Binder) (handled bool, err error) {
	switch s := s.(type) {
	case *sql.CreateTable:
		if s.As != nil || s.Replace || s.OrReplace {
			return false, nil
		}
		return true, c.CreateTable(s, b)
	case *sql.CreateView:
		return true, c.CreateView(s, b)
	case *sql.CreateCatalog:
		return true, c.createCatalog(s)
	case *sql.CreateDatabase:
		return true, c.createDatabase(s)
	case *sql.CreateFunction:
		return true, c.createFunction(s)
	case *sql.AlterTable:
		return true, c.alterTable(s, b)
	case *sql.AlterView:
		return true, c.alterView(s, b)
	case *sql.AlterCatalog:
		return true, c.alterCatalog(s)
	case *sql.AlterDatabase:
		return true, c.alterDatabase(s)
	case *sql.AlterFunction:
		return true, c.alterFunction(s)
	case *sql.Drop:
		return true, c.dropObject(s)
	case *sql.Use:
		return true, c.useDatabase(s)
	case *sql.UseCatalog:
		return true, c.useCatalog(s)
	case *sql.LoadModule:
		return true, c.loadModule(s)
	case *sql.UnloadModule:
		return true, c.unloadModule(s)
	case *sql.UseModules:
		return true, c.useModules(s)
	}
	return false, nil
}

func (c *Catalog) dropObject(s *sql.Drop) error {
	switch s.Object {
	case sql.ObjectTable, sql.ObjectView:
		return c.drop(s)
	case sql.ObjectCatalog:
		return c.dropCatalog(s)
	case sql.ObjectDatabase:
		return c.dropDatabase(s)
	case sql.ObjectFunction:
		return c.dropFunction(s)
	case sql.ObjectMaterializedTable:
		p, err := c.Resolve(s.Name)
		if err != nil || s.IfExists {
			return err
		}
		return Errorf(ValidationError, "Materialized table with identifier %s does not exist.", p.Quoted()).Node(s.Name)
	}
	return Errorf(TableError, "Unsupported query: %s;", sql.Format(s)).Node(s)
}
