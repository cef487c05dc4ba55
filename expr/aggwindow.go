package expr

import "runnel/types"

// windowFunctions are known by their types only: operators compute them.
func windowFunctions() []Aggregate {
	number := func(name, doc string, t types.Type, args int) Aggregate {
		return Aggregate{Name: name, Doc: doc, Window: true, Result: func(got []types.Type) (types.Type, error) {
			if len(got) != args {
				return types.Type{}, aggCount(name, args)
			}
			return t, nil
		}}
	}
	big, double := types.Of(types.BigInt).Required(), types.Of(types.Double).Required()
	return []Aggregate{
		number("ROW_NUMBER", "ROW_NUMBER(): the number of the row in its window, from 1.", big, 0),
		number("RANK", "RANK(): one more than the rows before the first equal one.", big, 0),
		number("DENSE_RANK", "DENSE_RANK(): the number of the row's value among the different ones.", big, 0),
		number("PERCENT_RANK", "PERCENT_RANK(): (RANK - 1) / (rows - 1).", double, 0),
		number("CUME_DIST", "CUME_DIST(): the part of rows up to the current one and its equals.", double, 0),
		number("NTILE", "NTILE(n): the number of the row's part when the window is cut into n.", types.Of(types.BigInt), 1),
		{Name: "LAG", Window: true, Doc: "LAG(a [, n [, default]]): the value n rows before, 1 by default.", Result: lagType("LAG")},
		{Name: "LEAD", Window: true, Doc: "LEAD(a [, n [, default]]): the value n rows behind, 1 by default.", Result: lagType("LEAD")},
	}
}

// lagType is the type of the first argument; with a NOT NULL default it is NOT NULL when the argument is.
func lagType(name string) func([]types.Type) (types.Type, error) {
	return func(args []types.Type) (types.Type, error) {
		if len(args) < 1 || len(args) > 3 {
			return types.Type{}, aggCount(name, 1)
		}
		if len(args) > 1 && !args[1].IsNumeric() {
			return types.Type{}, aggMisfit(name, args, "'"+name+"(<ANY>, <NUMERIC>)'")
		}
		null := true
		if len(args) == 3 {
			if _, ok := CommonType(args[0], args[2]); !ok {
				return types.Type{}, aggMisfit(name, args, "'"+name+"(<ANY>, <NUMERIC>, <ANY>)'")
			}
			null = !args[0].NotNull || !args[2].NotNull
		}
		return args[0].Plain().Nullable(null), nil
	}
}
