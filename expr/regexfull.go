package expr

// FullMatcher compiles a pattern of java.util.regex, for options that hold one. The function it gives says whether the
// pattern matches a whole text; its error is that of a match that took too long. It serves one goroutine.
func FullMatcher(pattern string) (func(text string) (bool, error), error) {
	if _, err := compileRegex(pattern); err != nil {
		return nil, err // what is wrong by itself may be right within the group below
	}
	re, err := compileRegex(`\A(?:` + pattern + `)\z`)
	if err != nil {
		return nil, err
	}
	return re.found, nil
}
