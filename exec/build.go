package exec

import (
	"fmt"

	"runnel/exec/op"
	"runnel/plan"
)

// newOperator is the one switch from plan nodes to operators. Sources, sinks and results belong to the engine; see
// attempt.build.
func newOperator(s *opSpec) (op.Operator, error) {
	switch n := s.node.(type) {
	case *plan.Sink:
		switch s.stage {
		case stageEnforcer:
			e := n.Enforcer
			return op.NewConstraintEnforcer(n.Fields, op.Enforcement{NotNull: e.NotNull, Drop: e.Drop, Length: e.Length}), nil
		}
	case *plan.DropUpdateBefore:
		return op.NewDropUpdateBefore(), nil
	case *plan.Limit:
		return op.NewLimit(n.Offset, n.Limit), nil
	}
	return nil, fmt.Errorf("operator %s is not known to the engine", s.name)
}
