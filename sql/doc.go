// Package sql turns Flink SQL text into a syntax tree and a syntax tree back into text, and splits scripts into statements.
//
// The dialect is that of Flink 1.20, with the later additions that do not change the meaning of a 1.20 statement. The package knows
// no table, no function and no type: it accepts more than is legal, and whoever binds the tree to a catalog rejects the rest. Every
// node carries the place in the text that it came from, so that later errors can point at it.
//
// [Parse] reads one statement; [ParseQuery], [ParseExpr], [ParseType] and [ParseName] read parts of one. [Split] cuts a script into
// statements and says whether its end is still incomplete. [Format] prints a tree; what it prints parses to an equal tree. Errors of
// syntax are [*Error] values: their message is Flink's, and they know their place, the offending token and what was expected there.
// [Caret] draws a place of a text for any error that has one.
package sql
