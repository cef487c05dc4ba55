package plan

import (
	"strings"

	"runnel/expr"
)

// prefix writes expressions as physical plans do: >(a, 1).
func prefix(e expr.Expr) string { return e.String() }

// infixOps are the operators that stand between their operands.
var infixOps = map[string]bool{
	"=": true, "<>": true, "<": true, "<=": true, ">": true, ">=": true, "+": true, "-": true, "*": true, "/": true, "%": true,
	"AND": true, "OR": true, "||": true, "LIKE": true, "NOT LIKE": true, "SIMILAR TO": true, "IS DISTINCT FROM": true,
	"IS NOT DISTINCT FROM": true,
}

// infix writes expressions as execution plans do: (a > 1).
func infix(e expr.Expr) string {
	switch e := e.(type) {
	case *expr.Call:
		args := make([]string, len(e.Args))
		for i, a := range e.Args {
			if args[i] = infix(a); e.Bare(i) {
				args[i], _, _ = strings.Cut(args[i], ":")
			}
		}
		name := e.Func.Name
		switch {
		case infixOps[name] && len(args) > 1:
			return "(" + strings.Join(args, " "+name+" ") + ")"
		case strings.HasPrefix(name, "IS ") && len(args) == 1:
			return args[0] + " " + name
		case name == "NOT" && len(args) == 1:
			return "NOT " + args[0]
		}
		return name + "(" + strings.Join(args, ", ") + ")"
	case *expr.Cast:
		word := "CAST("
		if e.Try {
			word = "TRY_CAST("
		}
		return word + infix(e.Arg) + " AS " + e.T.Name() + ")"
	case *expr.Case:
		var args []string
		for _, w := range e.Whens {
			args = append(args, infix(w.Cond), infix(w.Then))
		}
		return "CASE(" + strings.Join(append(args, infix(e.Else)), ", ") + ")"
	case *expr.Field:
		return infix(e.Arg) + "." + e.Name
	}
	return e.String()
}
