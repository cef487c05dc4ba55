package web

import (
	"context"
	"testing"
	"time"
)

// TestSettle waits for a client that polls late, and not for one that never does.
func TestSettle(t *testing.T) {
	var o operations
	o.init()
	defer o.close()
	goOn := make(chan struct{})
	id := begin(t, &o, "job", func(_ context.Context, op *operation) error {
		<-goOn
		op.path = "/there"
		return nil
	})
	settled := make(chan struct{})
	go func() { o.settle(time.Minute); close(settled) }()
	if op, ok := o.find("job", id); !ok || op.done || op.path != "" {
		t.Fatalf("a running operation is %+v, %t", op, ok)
	}
	select {
	case <-settled:
		t.Fatal("settled before the end")
	case <-time.After(10 * time.Millisecond):
	}
	close(goOn)
	for {
		if op, _ := o.find("job", id); op.done {
			if op.path != "/there" {
				t.Errorf("path %q", op.path)
			}
			break
		}
		time.Sleep(time.Millisecond)
	}
	<-settled
	if op, ok := o.find("job", id); !ok || !op.done {
		t.Error("the end cannot be asked for twice")
	}

	begin(t, &o, "job", func(context.Context, *operation) error { return nil })
	o.wait.Wait()
	began := time.Now()
	o.settle(20 * time.Millisecond)
	o.settle(time.Nanosecond) // its end is long ago
	if d := time.Since(began); d > 10*time.Second {
		t.Errorf("settling took %s", d)
	}
}

// begin gives the id of an operation that it begins.
func begin(t *testing.T, o *operations, job string, f func(context.Context, *operation) error) string {
	t.Helper()
	_, body, err := o.begin(job, f)
	if err != nil {
		t.Fatal(err)
	}
	return body.(object)["request-id"].(string)
}

// TestTooManyOperations refuses what is beyond the limit, and goes on when there is room again.
func TestTooManyOperations(t *testing.T) {
	var o operations
	o.init()
	goOn := make(chan struct{})
	wait := func(context.Context, *operation) error { <-goOn; return nil }
	for range runningOperations {
		begin(t, &o, "job", wait)
	}
	if _, _, err := o.begin("job", wait); err == nil {
		t.Error("one too many was begun")
	}
	close(goOn)
	o.wait.Wait()
	begin(t, &o, "job", wait)
	o.close()
}
