package sql

// Bounds of what is read. They are far above what anybody writes and keep a broken or hostile text from taking the process down.
const (
	// MaxText is the greatest length of a statement in bytes.
	MaxText = 16 << 20
	// MaxLiteral is the greatest length of one string or number in bytes.
	MaxLiteral = 4 << 20
	// MaxIdent is the greatest length of a name in UTF-16 code units, Flink's limit.
	MaxIdent = 256
	// MaxDepth is how deep parentheses, subqueries, types and the like may nest.
	MaxDepth = 400
	// MaxChain is how many operators, joins or set operations may follow each other on one level.
	MaxChain = 20000
)
