// Package javamath computes elementary functions to the digits that a JVM gives on amd64.
//
// Java has two kinds. Sin, cos, tan, exp, log, log10 and pow are the processor's own library there, whose results are the
// correctly rounded ones in all but one or two of a thousand cases; they are computed here with about 70 bits and rounded
// once. The others are those of the library fdlibm, whose results follow from its order of operations, which is kept.
package javamath

import "math"

// double2 is the sum of two numbers; the second one is at most half a unit in the last place of the first.
type double2 struct{ hi, lo float64 }

func twoSum(a, b float64) double2 {
	s := a + b
	t := s - a
	return double2{s, (a - (s - t)) + (b - t)}
}

// quickSum is twoSum where a is the larger one.
func quickSum(a, b float64) double2 {
	s := a + b
	return double2{s, b - (s - a)}
}

func twoProduct(a, b float64) double2 {
	p := a * b
	return double2{p, math.FMA(a, b, -p)}
}

func (x double2) plus(y double2) double2 {
	s, t := twoSum(x.hi, y.hi), twoSum(x.lo, y.lo)
	s = quickSum(s.hi, s.lo+t.hi)
	return quickSum(s.hi, s.lo+t.lo)
}

func (x double2) plusSmall(y float64) double2 {
	s := twoSum(x.hi, y)
	return quickSum(s.hi, s.lo+x.lo)
}

func (x double2) times(y double2) double2 {
	p := twoProduct(x.hi, y.hi)
	return quickSum(p.hi, p.lo+(x.hi*y.lo+x.lo*y.hi))
}

func (x double2) scaled(y float64) double2 {
	p := twoProduct(x.hi, y)
	return quickSum(p.hi, p.lo+x.lo*y)
}

func (x double2) over(y double2) double2 {
	q := x.hi / y.hi
	r := x.plus(y.scaled(-q))
	return quickSum(q, r.hi/y.hi)
}

func (x double2) negative() double2 { return double2{-x.hi, -x.lo} }
