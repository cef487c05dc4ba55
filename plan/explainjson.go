package plan

import (
	"encoding/json"
	"fmt"
	"strings"
)

// jsonPlan writes the graph as Flink's web tools read it. Exchanges are no nodes there but the way between two.
func jsonPlan(g *Graph, parallelism int) string {
	var b strings.Builder
	b.WriteString("{\n  \"nodes\" : [ ")
	first := true
	for _, n := range g.Nodes {
		if _, ok := n.(*Exchange); ok {
			continue
		}
		if !first {
			b.WriteString(", ")
		}
		first = false
		jsonNode(&b, n, parallelism)
	}
	b.WriteString(" ]\n}")
	return b.String()
}

func jsonNode(b *strings.Builder, n Node, parallelism int) {
	info := n.Base()
	kind, pact := fmt.Sprintf("%s[%d]", info.Kind, info.ID), "Operator"
	switch n := n.(type) {
	case *Scan:
		kind, pact = fmt.Sprintf("Source: %s[%d]", lastPart(n.Table.Name), info.ID), "Data Source"
	case *Values:
		kind, pact = fmt.Sprintf("Source: Values[%d]", info.ID), "Data Source"
	case *Sink:
		kind, pact = fmt.Sprintf("Sink: %s[%d]", lastPart(n.Table.Name), info.ID), "Data Sink"
	case *Collect:
		kind, pact = "Sink: Collect table sink", "Data Sink"
	}
	if info.Parallelism > 0 {
		parallelism = info.Parallelism
	}
	fmt.Fprintf(b, "{\n    \"id\" : %d,\n    \"type\" : %s,\n    \"pact\" : \"%s\",\n    \"contents\" : %s,\n    \"parallelism\" : %d",
		info.ID, quoted(kind), pact, quoted(fmt.Sprintf("[%d]:%s", info.ID, newDescriber(n, infix).text())), parallelism)
	if len(info.Inputs) > 0 {
		b.WriteString(",\n    \"predecessors\" : [ ")
		for i, in := range info.Inputs {
			if i > 0 {
				b.WriteString(", ")
			}
			ship := "FORWARD"
			for {
				e, ok := in.(*Exchange)
				if !ok {
					break
				}
				ship = [...]string{HashKeys: "HASH", Singleton: "GLOBAL", Rebalance: "REBALANCE", Broadcast: "BROADCAST"}[e.Dist]
				in = e.Inputs[0]
			}
			fmt.Fprintf(b, "{\n      \"id\" : %d,\n      \"ship_strategy\" : \"%s\",\n      \"side\" : \"second\"\n    }", in.Base().ID, ship)
		}
		b.WriteString(" ]")
	}
	b.WriteString("\n  }")
}

func quoted(s string) string {
	q, err := json.Marshal(s)
	if err != nil {
		return `""`
	}
	return string(q)
}

func lastPart(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }
