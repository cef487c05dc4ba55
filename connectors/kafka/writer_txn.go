package kafka

import (
	"context"
	"fmt"

	"runnel/connectors"
)

func (s *sinkSpec) openTxn(ctx context.Context, env connectors.SinkEnv) (connectors.Writer, error) {
	return nil, fmt.Errorf("delivery guarantee exactly-once is not supported")
}

func (s *sinkSpec) committer(env connectors.SinkEnv) (connectors.Committer, error) {
	return nil, fmt.Errorf("delivery guarantee exactly-once is not supported")
}
