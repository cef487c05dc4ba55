package op

import (
	"testing"
	"time"
)

func TestJoinMiniBatch(t *testing.T) {
	r, s := joinRig(Inner)
	s.MiniBatch = MiniBatch{Size: 4, Latency: time.Second}
	r.runBounded(t, `
		-- equal rows take each other back, whichever came first
		L +I 1 a
		L -D 1 a
		R -D 1 x
		R +I 1 x
		L +I 1 b
		R +I 1 y
		L +I 1 b
		R +U 2 z
			+I 1 b 1 y
			+I 1 b 1 y
		R watermark 3
		L watermark 5
			watermark 3
		L +U 2 c
		time 1000
			+U 2 c 2 z
		R -U 2 z
		flush
			-U 2 c 2 z
	`)
}

// A row that takes the place of its key's old one pads nobody in between.
func TestJoinMiniBatchReplace(t *testing.T) {
	r, s := joinRig(Full)
	s.MiniBatch = MiniBatch{Size: 100}
	s.Left.Unique = []int{0}
	r.runBounded(t, `
		L +I 1 a
		R +I 1 x
		R +I 2 y
		flush
			+I NULL NULL 1 x
			+I NULL NULL 2 y
			-D NULL NULL 1 x
			+I 1 a 1 x
		L -U 1 a
		L +U 1 b
		L -U 1 b
		L +U 1 c
		L +I 3 d
		L -D 3 d
		flush
			-D 1 a 1 x
			+I 1 c 1 x
		L -D 1 c
		flush
			-D 1 c 1 x
			+I NULL NULL 1 x
		-- one bundle: what goes and what comes do not have the same partners
		L +I 1 e
		R +I 1 y
		flush
			+I NULL NULL 1 y
			-D NULL NULL 1 x
			-D NULL NULL 1 y
			+I 1 e 1 x
			+I 1 e 1 y
	`)
	s.Cond = call(t, r.out, "<>", "v", column(t, r.out, "w"))
	r.runBounded(t, `
		R +I 1 x
		R +I 1 y
		L +I 1 x
		flush
			+I NULL NULL 1 x
			+I NULL NULL 1 y
			-D NULL NULL 1 y
			+I 1 x 1 y
		L -U 1 x
		L +U 1 y
		flush
			-D 1 x 1 y
			+I NULL NULL 1 y
			-D NULL NULL 1 x
			+I 1 y 1 x
		L -U 1 y
		L +U 1 z
		flush
			-D 1 y 1 x
			-D NULL NULL 1 y
			+I 1 z 1 x
			+I 1 z 1 y
	`)
}

func TestJoinMiniBatchRight(t *testing.T) {
	r, s := joinRig(Right)
	s.MiniBatch = MiniBatch{Size: 100}
	r.runBounded(t, `
		R +I 1 x
		R +I NULL n
		L +I 1 a
		flush
			+I 1 a 1 x
			+I NULL NULL NULL n
		L -D 1 a
		L +I 1 b
		flush
			-D 1 a 1 x
			+I NULL NULL 1 x
			-D NULL NULL 1 x
			+I 1 b 1 x
	`)
}
