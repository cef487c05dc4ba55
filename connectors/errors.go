package connectors

// PermanentError is a failure outside that another try will not mend: no broker where the options point to, a login that is
// refused. A job that meets one fails at once, whatever its restart strategy.
type PermanentError struct{ Err error }

func (e *PermanentError) Error() string { return e.Err.Error() }

// Unwrap gives the cause.
func (e *PermanentError) Unwrap() error { return e.Err }

// Refused is the refusal of a table or an option under the class by which users of Flink know and search for it; refusals of
// other types are ValidationExceptions.
type Refused struct {
	Class, Msg string
}

func (e *Refused) Error() string { return e.Msg }
