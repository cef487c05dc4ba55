package nexmark

import (
	"runnel/connectors"
	"runnel/types"
)

// kind is a kind of event, as the column event_type numbers it.
type kind uint8

const (
	person kind = iota
	auction
	bid
	eventType // of the column of that name
	noKind
)

// column is a column of the table: event_type, or the ROW of one kind of event, NULL for the others.
type column struct {
	name   string
	kind   kind
	t      types.Type
	leaves []leaf
	path   int // the leaf that is read in place of the ROW, or connectors.Whole
}

// leaf is a field of an event and what makes it. fill writes the values of the given rows, by index.
type leaf struct {
	name string
	t    types.Type
	fill func(g *generator, c *types.Column, rows []int32)
}

func number(name string, fill func(*generator, *types.Column, []int32)) leaf {
	return leaf{name, types.Of(types.BigInt), fill}
}

func text(name string, fill func(*generator, *types.Column, []int32)) leaf {
	return leaf{name, types.String(), fill}
}

func stamp(name string, fill func(*generator, *types.Column, []int32)) leaf {
	return leaf{name, types.TimestampOf(3), fill}
}

// schema is the benchmark's table.
var schema = []column{
	{name: "event_type", kind: eventType, t: types.Of(types.Int), path: connectors.Whole},
	row("person", person, number("id", (*generator).personID), text("name", (*generator).personName), text("emailAddress", (*generator).email),
		text("creditCard", (*generator).card), text("city", (*generator).city), text("state", (*generator).state),
		stamp("dateTime", (*generator).time), text("extra", (*generator).personExtra)),
	row("auction", auction, number("id", (*generator).auctionID), text("itemName", (*generator).itemName), text("description", (*generator).description),
		number("initialBid", (*generator).initialBid), number("reserve", (*generator).reserve), stamp("dateTime", (*generator).time),
		stamp("expires", (*generator).expires), number("seller", (*generator).seller), number("category", (*generator).category),
		text("extra", (*generator).auctionExtra)),
	row("bid", bid, number("auction", (*generator).bidAuction), number("bidder", (*generator).bidder), number("price", (*generator).price),
		text("channel", (*generator).channel), text("url", (*generator).url), stamp("dateTime", (*generator).time), text("extra", (*generator).bidExtra)),
}

func row(name string, k kind, leaves ...leaf) column {
	fields := make([]types.Field, len(leaves))
	for i, l := range leaves {
		fields[i] = types.Field{Name: l.name, Type: l.t}
	}
	return column{name, k, types.RowOf(fields...), leaves, connectors.Whole}
}

// columnOf finds a column by name; its kind is noKind if there is none.
func columnOf(name string) column {
	for _, c := range schema {
		if c.name == name {
			return c
		}
	}
	return column{kind: noKind}
}
