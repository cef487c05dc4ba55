package types

// AsDecimal gives the precision and scale that t takes part with in decimal arithmetic; false for a type that is neither
// an integer nor a DECIMAL.
func (t Type) AsDecimal() (p, s int, ok bool) {
	switch t.Kind {
	case TinyInt:
		return 3, 0, true
	case SmallInt:
		return 5, 0, true
	case Int:
		return 10, 0, true
	case BigInt:
		return 19, 0, true
	case Decimal:
		return t.Precision, t.Scale, true
	}
	return 0, 0, false
}

// AddType is the type of t + u and t - u for exact numbers of which one is a DECIMAL; nullable when one of them is.
func AddType(t, u Type) Type {
	p1, s1, _ := t.AsDecimal()
	p2, s2, _ := u.AsDecimal()
	s := max(s1, s2)
	return adjusted(max(p1-s1, p2-s2)+s+1, s, t, u)
}

// MulType is the type of t * u, as AddType.
func MulType(t, u Type) Type {
	p1, s1, _ := t.AsDecimal()
	p2, s2, _ := u.AsDecimal()
	return adjusted(p1+p2+1, s1+s2, t, u)
}

// DivType is the type of t / u, as AddType.
func DivType(t, u Type) Type {
	p1, s1, _ := t.AsDecimal()
	p2, s2, _ := u.AsDecimal()
	s := max(6, s1+p2+1)
	return adjusted(p1-s1+s2+s, s, t, u)
}

// ModType is the type of t % u, as AddType. With two scales of 0 it is the type of u, whatever that is.
func ModType(t, u Type) Type {
	p1, s1, _ := t.AsDecimal()
	p2, s2, _ := u.AsDecimal()
	if s1 == 0 && s2 == 0 {
		return u.Nullable(!t.NotNull || !u.NotNull)
	}
	s := max(s1, s2)
	return adjusted(min(p1-s1, p2-s2)+s, s, t, u)
}

// adjusted cuts a precision beyond 38 by giving up scale, but not below 6 digits of it.
func adjusted(p, s int, t, u Type) Type {
	if p > MaxDecimal {
		s = max(MaxDecimal-(p-s), min(s, 6))
		p = MaxDecimal
	}
	return DecimalOf(p, s).Nullable(!t.NotNull || !u.NotNull)
}

// CommonDecimal is the type that holds values of both exact numbers t and u (CASE, UNION, VALUES): the integer digits go
// before the scale when both do not fit.
func CommonDecimal(t, u Type) Type {
	p1, s1, _ := t.AsDecimal()
	p2, s2, _ := u.AsDecimal()
	d := min(MaxDecimal, max(p1-s1, p2-s2))
	s := min(max(s1, s2), MaxDecimal-d)
	return DecimalOf(d+s, s).Nullable(!t.NotNull || !u.NotNull)
}

// SumType is the type of SUM over t: DECIMAL(38, s) for a decimal, else t itself; nullable as t is.
func SumType(t Type) Type {
	if t.Kind == Decimal {
		return DecimalOf(MaxDecimal, t.Scale).Nullable(!t.NotNull)
	}
	return t.Plain()
}

// AvgType is the type of AVG and of the variance family over t: DECIMAL(38, max(s, 6)) for a decimal, else t itself;
// nullable as t is.
func AvgType(t Type) Type {
	if t.Kind == Decimal {
		return DecimalOf(MaxDecimal, max(t.Scale, 6)).Nullable(!t.NotNull)
	}
	return t.Plain()
}
