package op

import (
	"math"

	"runnel/state"
	"runnel/types"
)

// In batch mode a join gives +I alone: pairs as they are found, and which rows have no partner once both inputs have
// ended. Inputs are insert-only.

// addBatch joins a row of an inner or outer join.
func (j *Join) addBatch(my, other *regularSide, r *joinRow) error {
	if !r.nullKey {
		j.keep(my, r, len(j.rows))
	} else if my.outer {
		return j.pad(my, r, types.Insert)
	}
	if other.outer {
		for _, x := range j.rows {
			other.log.Touch(x)[0]++
		}
	}
	return j.pairs(my, other, r, types.Insert)
}

// antiBatch notes a row of an anti join.
func (j *Join) antiBatch(my, other *regularSide, r *joinRow) error {
	if !r.nullKey {
		j.keep(my, r, len(j.rows))
	} else if my == j.sides[0] {
		return j.give(r, types.Insert)
	}
	if my == j.sides[1] {
		for _, x := range j.rows {
			other.log.Touch(x)[0]++
		}
	}
	return nil
}

// EndInput gives, behind both inputs in batch mode, the rows without partner.
func (j *Join) EndInput(int) error {
	if j.ended++; !j.batch || j.ended < len(j.sides) {
		return nil
	}
	anti := j.spec.Kind == Anti
	for i, s := range j.sides {
		if !s.outer && !(anti && i == 0) {
			continue
		}
		var err error
		s.log.Leave(math.MaxInt64, func(x state.Row) {
			switch {
			case err != nil || s.log.Side(x)[0] > 0:
			case anti:
				s.log.Emit(x, j.out.Cols)
				err = j.out.pushed(types.Insert)
			default:
				err = j.padKept(s, x, types.Insert)
			}
		})
		if err != nil {
			return err
		}
	}
	return j.out.flush()
}
