package catalog

import (
	"errors"
	"testing"
	"time"
)

func TestConfigSet(t *testing.T) {
	tests := []struct {
		key, value string
		kept       string // under the key's present name
		note       bool
		err        string // class
	}{
		{"parallelism.default", "4", "4", false, ""},
		{"parallelism.default", "many", "", false, "java.lang.NumberFormatException"},
		{"parallelism.default", "0", "", false, ArgumentError},
		{"execution.parallelism", "2", "2", true, ""},
		{"execution.runtime-mode", "batch", "BATCH", false, ""},
		{"execution.runtime-mode", "turbo", "", false, ArgumentError},
		{"execution.checkpointing.interval", "5", "", false, ArgumentError},
		{"execution.checkpointing.interval", "10 s", "10 s", false, ""},
		{"execution.checkpointing.interval", "PT10S", "", false, "java.lang.NumberFormatException"},
		{"execution.checkpointing.mode", "at-least-once", "", false, ArgumentError},
		{"execution.savepoint.path", "/tmp/sp", "/tmp/sp", false, ""},
		{"state.backend", "rocksdb", "badger", true, ""},
		{"state.backend.type", "hashmap", "hashmap", false, ""},
		{"state.backend.type", "floppy", "", false, ValidationError},
		{"table.local-time-zone", "Asia/Tokyo", "Asia/Tokyo", false, ""},
		{"table.local-time-zone", "GMT+08:00", "GMT+08:00", false, ""},
		{"table.local-time-zone", "Mars/One", "", false, ValidationError},
		{"table.exec.mini-batch.latency", "1 s", "1 s", true, ""},
		{"no.such.key", "", "", true, ""},
		{"state.backend.rocksdb.block.cache-size", "1", "1", true, ""},
		{"execution.checkpointing.file-merging.enabled", "true", "true", true, ""},
		{"execution.checkpointing.mode", "AT_LEAST_ONCE", "AT_LEAST_ONCE", true, ""},
		{"execution.checkpointing.mode", "exactly_once", "EXACTLY_ONCE", false, ""},
		{"execution.checkpointing.unaligned", "true", "true", true, ""},
		{"execution.checkpointing.unaligned", "false", "false", false, ""},
		{"execution.checkpointing.aligned-checkpoint-timeout", "5 s", "5 s", true, ""},
		{"execution.checkpointing.unaligned.interruptible-timers.enabled", "true", "true", true, ""},
		{"execution.checkpointing.interval-during-backlog", "0", "0", true, ""},
		{"execution.savepoint-restore-mode", "CLAIM", "CLAIM", true, ""},
		{"jobmanager.execution.failover-strategy", "region", "region", true, ""},
		{"jobmanager.execution.failover-strategy", "full", "full", false, ""},
		{"table.catalog-store.kind", "file", "file", true, ""},
		{"pipeline.jars", "x.jar", "", false, ValidationError},
		{"table.catalog-store.file.path", "/tmp/x", "", false, ValidationError},
		{"taskmanager.memory.managed.size", "64 mb", "64 mb", false, ""},
		{"taskmanager.memory.managed.size", "much", "", false, ArgumentError},
		{"execution.buffer-timeout", "-1 ms", "-1 ms", false, ""},
	}
	for _, tt := range tests {
		c := NewConfig()
		notes, err := c.Set(tt.key, tt.value)
		var e *Error
		switch {
		case tt.err != "":
			if !errors.As(err, &e) || e.Class != tt.err {
				t.Errorf("SET %s = %s: %v, want class %s", tt.key, tt.value, err, tt.err)
			}
			if _, ok := c.Lookup(tt.key); ok {
				t.Errorf("SET %s = %s was refused but kept", tt.key, tt.value)
			}
		case err != nil:
			t.Errorf("SET %s = %s: %v", tt.key, tt.value, err)
		case c.Get(tt.key) != tt.kept || len(notes) > 0 != tt.note:
			t.Errorf("SET %s = %s: kept %q with notes %v", tt.key, tt.value, c.Get(tt.key), notes)
		}
	}
}

func TestConfigUnknownKeyNamesTheNearest(t *testing.T) {
	notes, err := NewConfig().Set("paralelism.default", "1")
	if err != nil || len(notes) != 1 || notes[0] != "'paralelism.default' is no known option: it is kept, but changes nothing. Did you mean 'parallelism.default'?" {
		t.Errorf("got %q, %v", notes, err)
	}
}

func TestConfigLayers(t *testing.T) {
	c := NewConfig()
	if _, err := c.SetBase("parallelism.default", "3"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Set("parallelism.default", "5"); err != nil {
		t.Fatal(err)
	}
	job := c.Copy()
	c.Reset("execution.parallelism")
	if got := c.Int("parallelism.default"); got != 3 {
		t.Errorf("after RESET %d, want 3", got)
	}
	if got := job.Int("parallelism.default"); got != 5 {
		t.Errorf("the copy changed: %d", got)
	}
	if got := NewConfig().Duration("execution.checkpointing.timeout"); got != 10*time.Minute {
		t.Errorf("default %v", got)
	}
}

func TestConfigKeysAreWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range ConfigKeys {
		for _, n := range append([]string{k.Key}, k.Old...) {
			if seen[n] {
				t.Errorf("%s is there twice", n)
			}
			seen[n] = true
		}
		if k.Default != "" && k.Effect != Refused {
			if _, _, err := k.check(k.Key, k.Default); err != nil {
				t.Errorf("the default of %s: %v", k.Key, err)
			}
		}
		if k.Effect == Used && k.Doc == "" {
			t.Errorf("%s has no text", k.Key)
		}
	}
}

func TestNearest(t *testing.T) {
	words := []string{"orders", "payments", "id", "amount"}
	for in, want := range map[string]string{"order": "orders", "ordesr": "orders", "paymens": "payments", "amt": "", "ix": "id", "Orders": "orders", "zzzz": ""} {
		if got, _ := Nearest(in, words); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", in, got, want)
		}
	}
}
