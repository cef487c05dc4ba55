package expr

import "runnel/types"

// Function is a row of the table of scalar functions: signature, return-type rule, null rule and kernel.
type Function struct {
	Name string
	// Doc is one sentence with the signature in front, for SHOW FUNCTIONS, DESCRIBE FUNCTION, completion and the guide.
	Doc string
	// Nondeterministic functions are neither folded nor moved: RAND, UUID, NOW.
	Nondeterministic bool
	// Result gives the type of a call with the given argument types.
	Result func(args []types.Type) (types.Type, error)
}
