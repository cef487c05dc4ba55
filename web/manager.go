package web

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// managerID is the id of the one task manager: the process itself.
const managerID = "local"

func (s *Server) environment(*http.Request) (int, any, error) {
	// Arguments are left out: there may be passwords among them.
	return http.StatusOK, object{"jvm": object{"version": runtime.Version() + " (runnel " + s.opts.Version + ", no JVM)",
		"arch": runtime.GOOS + "/" + runtime.GOARCH, "options": []string{}}, "classpath": []string{}}, nil
}

// logs lists the files that log gives.
func (s *Server) logs(*http.Request) (int, any, error) {
	list := []object{}
	for _, path := range s.opts.Logs {
		if info, err := os.Stat(path); err == nil {
			list = append(list, object{"name": filepath.Base(path), "size": info.Size(), "mtime": ms(info.ModTime())})
		}
	}
	return http.StatusOK, object{"logs": list}, nil
}

// logFile answers with a log file as text; only those that logs lists can be asked for. Without a name it is the first.
func (s *Server) logFile(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("file")
	for i, path := range s.opts.Logs {
		if name != filepath.Base(path) && !(name == "" && i == 0) {
			continue
		}
		f, err := os.Open(path)
		if err != nil {
			break
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			break
		}
		w.Header().Set("Content-Type", "text/plain; charset=UTF-8")
		http.ServeContent(w, r, "", info.ModTime(), f)
		return
	}
	s.fail(w, notFound("The file %s is not there; /jobmanager/logs lists what is.", name))
}

// stdout is where print sinks write: the terminal, not a file.
func (s *Server) stdout(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=UTF-8")
	fmt.Fprintln(w, "Print sinks write to the standard output of the runnel process.")
}

// maxStacks bounds the text of a thread dump.
const maxStacks = 16 << 20

// threadDump lists the goroutines.
func (s *Server) threadDump(*http.Request) (int, any, error) {
	b := make([]byte, 1<<20)
	n := runtime.Stack(b, true)
	for n == len(b) && len(b) < maxStacks {
		b = make([]byte, 2*len(b))
		n = runtime.Stack(b, true)
	}
	list := []object{}
	for _, text := range strings.Split(strings.TrimSpace(string(b[:n])), "\n\n") {
		name, _, _ := strings.Cut(text, "\n")
		list = append(list, object{"threadName": strings.TrimSuffix(name, ":"), "stringifiedThreadInfo": text + "\n"})
	}
	return http.StatusOK, object{"threadInfos": list}, nil
}

func (s *Server) taskManagers(*http.Request) (int, any, error) {
	return http.StatusOK, object{"taskmanagers": []object{s.managerObject()}}, nil
}

func (s *Server) managerObject() object {
	free, total := s.opts.Cluster.Slots()
	resource := func(slots int) object {
		return object{"cpuCores": float64(slots), "taskHeapMemory": 0, "taskOffHeapMemory": 0, "managedMemory": 0, "networkMemory": 0, "extendedResources": object{}}
	}
	mem := memory()
	return object{
		"id": managerID, "path": "runnel://localhost", "dataPort": -1, "jmxPort": -1, "timeSinceLastHeartbeat": ms(time.Now()),
		"slotsNumber": total, "freeSlots": free, "totalResource": resource(total), "freeResource": resource(free),
		"hardware": object{"cpuCores": runtime.NumCPU(), "physicalMemory": physicalMemory(), "freeMemory": mem.total - mem.heap, "managedMemory": s.opts.Config.Memory("taskmanager.memory.managed.size")},
		"memoryConfiguration": object{"frameworkHeap": 0, "taskHeap": 0, "frameworkOffHeap": 0, "taskOffHeap": 0, "networkMemory": 0,
			"managedMemory": s.opts.Config.Memory("taskmanager.memory.managed.size"), "jvmMetaspace": 0, "jvmOverhead": 0, "totalFlinkMemory": mem.total, "totalProcessMemory": mem.total},
	}
}

// physicalMemory is the memory of the machine in bytes, 0 where it is not known.
func physicalMemory() int64 {
	b, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	var kb int64
	if _, err := fmt.Sscanf(string(b), "MemTotal: %d kB", &kb); err != nil {
		return 0
	}
	return kb << 10
}

func (s *Server) taskManager(*http.Request) (int, any, error) {
	o := s.managerObject()
	mem := memory()
	slots := []object{}
	for _, j := range s.opts.Cluster.Jobs() {
		need, waiting := j.Slots()
		if waiting != "" || j.State().Terminal() {
			continue
		}
		for range need {
			slots = append(slots, object{"jobId": j.ID(), "resource": object{"cpuCores": 1.0, "taskHeapMemory": 0, "taskOffHeapMemory": 0,
				"managedMemory": 0, "networkMemory": 0, "extendedResources": object{}}})
		}
	}
	o["allocatedSlots"] = slots
	o["metrics"] = object{
		"heapUsed": mem.heap, "heapCommitted": mem.total, "heapMax": -1, "nonHeapUsed": mem.total - mem.heap, "nonHeapCommitted": mem.total - mem.heap, "nonHeapMax": -1,
		"directCount": 0, "directUsed": 0, "directMax": 0, "mappedCount": 0, "mappedUsed": 0, "mappedMax": 0,
		"memorySegmentsAvailable": 0, "memorySegmentsTotal": 0, "nettyShuffleMemorySegmentsAvailable": 0, "nettyShuffleMemorySegmentsUsed": 0,
		"nettyShuffleMemorySegmentsTotal": 0, "nettyShuffleMemoryAvailable": 0, "nettyShuffleMemoryUsed": 0, "nettyShuffleMemoryTotal": 0,
		"garbageCollectors": []object{{"name": "Go", "count": mem.collections, "time": 0}},
	}
	return http.StatusOK, o, nil
}

// manager answers a call about a task manager by id.
func manager(h handler) handler {
	return func(r *http.Request) (int, any, error) {
		if id := r.PathValue("manager"); id != managerID {
			return 0, nil, notFound("Unknown TaskExecutor with resource ID %s: there is one, %s.", id, managerID)
		}
		return h(r)
	}
}
