package catalog

import (
	"strings"

	"runnel/connectors"
)

// Scope says how far the value of a key reaches.
type Scope uint8

// The scopes.
const (
	SessionScope Scope = iota // read by the session at each statement
	JobScope                  // copied into a job when it is submitted
	ProcessScope              // read once, when the process or its first job starts
)

// Effect says what a key does here.
type Effect uint8

// The effects.
const (
	Used     Effect = iota
	Accepted        // taken for the sake of scripts, without any effect
	Refused         // an error: what it asks for does not exist here
)

// ConfigKey is one key of SET, config.yaml and -D.
type ConfigKey struct {
	connectors.Option
	Scope  Scope
	Effect Effect
	// Min and Max bound a number (durations in milliseconds) when Bounded is set.
	Bounded  bool
	Min, Max int64
}

func key(kind connectors.OptionKind, name, def, doc string) ConfigKey {
	k := ConfigKey{Option: connectors.Option{Key: name, Kind: kind, Default: def, Doc: doc}, Scope: JobScope}
	if strings.HasPrefix(name, "sql-client.") {
		k.Scope = SessionScope
	}
	return k
}

func flag(name, def, doc string) ConfigKey { return key(connectors.BoolOption, name, def, doc) }
func number(name, def, doc string) ConfigKey {
	return key(connectors.IntOption, name, def, doc)
}
func long(name, def, doc string) ConfigKey { return key(connectors.LongOption, name, def, doc) }
func span(name, def, doc string) ConfigKey {
	return key(connectors.DurationOption, name, def, doc).bounds(0, 1<<62)
}
func text(name, def, doc string) ConfigKey   { return key(connectors.StringOption, name, def, doc) }
func float(name, def, doc string) ConfigKey  { return key(connectors.FloatOption, name, def, doc) }
func memory(name, def, doc string) ConfigKey { return key(connectors.MemoryOption, name, def, doc) }
func list(name, def, doc string) ConfigKey   { return key(connectors.ListOption, name, def, doc) }
func choice(name, def, doc, class string, values ...string) ConfigKey {
	k := key(connectors.EnumOption, name, def, doc)
	k.Enum, k.Values = class, values
	return k
}

func (k ConfigKey) old(names ...string) ConfigKey { k.Old = names; return k }

// suggest lists values for completion; others are taken as well.
func (k ConfigKey) suggest(values ...string) ConfigKey { k.Values = values; return k }
func (k ConfigKey) bounds(min, max int64) ConfigKey {
	k.Bounded, k.Min, k.Max = true, min, max
	return k
}
func (k ConfigKey) session() ConfigKey        { k.Scope = SessionScope; return k }
func (k ConfigKey) process() ConfigKey        { k.Scope = ProcessScope; return k }
func (k ConfigKey) effect(e Effect) ConfigKey { k.Effect = e; return k }
func keys(e Effect, groups ...[]ConfigKey) []ConfigKey {
	var all []ConfigKey
	for _, g := range groups {
		for _, k := range g {
			all = append(all, k.effect(e))
		}
	}
	return all
}

const maxInt = 1<<31 - 1

const execOptions = "org.apache.flink.table.api.config.ExecutionConfigOptions$"

// ConfigKeys is the table of all known keys.
var ConfigKeys = append(append(keys(Used, tableKeys, clientKeys, executionKeys, stateKeys, processKeys),
	keys(Accepted, acceptedKeys)...), keys(Refused, refusedKeys)...)

var tableKeys = []ConfigKey{
	span("table.exec.state.ttl", "0 ms", "Time without a change after which state of a key is dropped; 0 keeps it for ever."),
	span("table.exec.source.idle-timeout", "0 ms", "Time without rows after which a source is idle and holds no watermark back; 0 for never."),
	flag("table.exec.source.cdc-events-duplicate", "false", "Changelog sources may repeat events: they are normalised by their primary key."),
	choice("table.exec.sink.not-null-enforcer", "ERROR", "What a null in a NOT NULL column of a sink does.", execOptions+"NotNullEnforcer", "ERROR", "DROP"),
	choice("table.exec.sink.type-length-enforcer", "IGNORE", "Whether values are cut or padded to the length of the sink's column.",
		execOptions+"TypeLengthEnforcer", "IGNORE", "TRIM_PAD"),
	choice("table.exec.sink.upsert-materialize", "AUTO", "Whether a sink keeps the rows of each key so that out-of-order changes come out right.",
		execOptions+"UpsertMaterialize", "NONE", "AUTO", "FORCE"),
	choice("table.exec.sink.keyed-shuffle", "AUTO", "Whether rows go to the subtasks of a sink by primary key.", execOptions+"SinkKeyedShuffle", "NONE", "AUTO", "FORCE"),
	choice("table.exec.sink.rowtime-inserter", "ENABLED", "Whether a sink's records get the row time as their timestamp.",
		execOptions+"RowtimeInserter", "ENABLED", "DISABLED"),
	flag("table.exec.mini-batch.enabled", "false", "Aggregates and joins fold rows of one key before they give results."),
	span("table.exec.mini-batch.allow-latency", "0 ms", "How long rows may wait to be folded.").old("table.exec.mini-batch.latency"),
	long("table.exec.mini-batch.size", "-1", "How many rows an operator folds at most."),
	number("table.exec.resource.default-parallelism", "-1", "Parallelism of the operators of a query; -1 for parallelism.default.").bounds(-1, 1<<15),
	number("table.exec.async-lookup.buffer-capacity", "100", "Lookups in flight at most.").bounds(1, maxInt),
	span("table.exec.async-lookup.timeout", "3 min", "Time that a lookup may take with all its retries."),
	choice("table.exec.async-lookup.output-mode", "ORDERED", "Whether lookup results keep the order of the input.",
		execOptions+"AsyncOutputMode", "ORDERED", "ALLOW_UNORDERED"),
	span("table.exec.interval-join.min-cleanup-interval", "0 ms", "Extra time that interval joins keep rows before they clean up."),
	flag("table.exec.deduplicate.insert-update-after-sensitive-enabled", "true", "Keep-last deduplication tells +I from +U."),
	flag("table.exec.deduplicate.mini-batch.compact-changes-enabled", "false", "Deduplication in mini-batches gives net changes only."),
	flag("table.exec.emit.early-fire.enabled", "false", "Legacy group windows give results before their end."),
	span("table.exec.emit.early-fire.delay", "", "Period of early results; 0 for after every row."),
	flag("table.exec.emit.late-fire.enabled", "false", "Legacy group windows give results for late rows."),
	span("table.exec.emit.late-fire.delay", "", "Period of late results; 0 for after every row."),
	span("table.exec.emit.allow-lateness", "", "How long legacy group windows are kept behind their end."),
	choice("table.exec.legacy-cast-behaviour", "DISABLED", "ENABLED: a failing CAST gives NULL.", execOptions+"LegacyCastBehaviour", "DISABLED", "ENABLED"),
	text("table.local-time-zone", "default", "The session's time zone: Europe/Berlin, UTC, GMT+08:00; default is the system's.").session(),
	choice("table.sql-dialect", "default", "The dialect; default is the only one.", "org.apache.flink.table.api.SqlDialect", "default", "hive").session(),
	flag("table.dml-sync", "false", "INSERT waits until its job has ended.").session(),
	flag("table.dynamic-table-options.enabled", "true", "Whether OPTIONS hints are allowed.").session(),
	list("table.column-expansion-strategy", "", "Virtual metadata columns that * leaves out: EXCLUDE_ALIASED_VIRTUAL_METADATA_COLUMNS, "+
		"EXCLUDE_DEFAULT_VIRTUAL_METADATA_COLUMNS.").session(),
	number("table.display.max-column-width", "30", "Width of a column of unbounded type in results.").session().bounds(1, maxInt),
	flag("table.optimizer.distinct-agg.split.enabled", "false", "Distinct aggregates are split by buckets to spread hot keys."),
	number("table.optimizer.distinct-agg.split.bucket-num", "1024", "Buckets of split distinct aggregates.").bounds(1, maxInt),
	flag("table.optimizer.reuse-sub-plan-enabled", "true", "Equal parts of a statement run once."),
	flag("table.optimizer.reuse-source-enabled", "true", "Equal scans of a statement run once."),
	choice("table.optimizer.non-deterministic-update.strategy", "IGNORE", "What to do about updates through functions that give other values each time.",
		"org.apache.flink.table.api.config.OptimizerConfigOptions$NonDeterministicUpdateStrategy", "TRY_RESOLVE", "IGNORE"),
}

var clientKeys = []ConfigKey{
	choice("sql-client.execution.result-mode", "TABLEAU", "How results of queries are shown; TABLE and CHANGELOG fill the screen of a terminal.",
		"org.apache.flink.table.client.config.ResultMode", "TABLE", "CHANGELOG", "TABLEAU", "CSV", "JSON", "NONE"),
	number("sql-client.execution.max-table-result.rows", "1000000", "Rows that the TABLE view keeps; 0 or less for all."),
	number("sql-client.display.max-column-width", "", "Older name of table.display.max-column-width; it wins when both are set.").bounds(1, maxInt),
	text("sql-client.display.color-schema", "DEFAULT", "Colours of what is typed; an unknown one is DEFAULT, which has none.").
		suggest("DEFAULT", "DARK", "LIGHT", "CHESTER", "DRACULA", "SOLARIZED", "VS2010", "OBSIDIAN", "GESHI"),
	flag("sql-client.display.pager", "true", "Whether answers that are larger than the terminal are shown page by page."),
	flag("sql-client.display.show-line-numbers", "false", "Whether prompts of further lines show their numbers."),
	flag("sql-client.display.print-time-cost", "true", "Whether the time taken stands behind results."),
}

var executionKeys = []ConfigKey{
	choice("execution.runtime-mode", "STREAMING", "STREAMING or BATCH.", "org.apache.flink.api.common.RuntimeExecutionMode", "STREAMING", "BATCH", "AUTOMATIC"),
	span("execution.buffer-timeout.interval", "100 ms", "How long a row may wait in a batch that is not full; 0 sends every row, -1 ms only full batches.").
		old("execution.buffer-timeout").bounds(-1, 1<<62),
	flag("execution.buffer-timeout.enabled", "true", "Whether the interval above counts."),
	text("execution.state-recovery.path", "", "Savepoint or checkpoint that the next job starts from, or latest. It is used once.").old("execution.savepoint.path"),
	flag("execution.state-recovery.ignore-unclaimed-state", "false", "State that fits no operator is left behind without an error.").
		old("execution.savepoint.ignore-unclaimed-state"),
	text("pipeline.name", "", "Name of the next jobs."),
	number("pipeline.max-parallelism", "-1", "Number of key groups, the limit of every later parallelism; -1 for 128.").bounds(-1, 1<<15),
	span("pipeline.auto-watermark-interval", "200 ms", "Period of watermarks; 0 for none."),
	flag("pipeline.operator-chaining.enabled", "true", "Operators without an exchange between them run in one task.").old("pipeline.operator-chaining"),
	memory("taskmanager.memory.managed.size", "256mb", "Rows that the operators of a batch job hold in memory together; more go to disk."),
	text("io.tmp.dirs", "", "Directories, with commas between them, for rows that do not fit into memory; the data directory's tmp without."),
	number("parallelism.default", "1", "Parallelism of jobs.").old("execution.parallelism").bounds(1, 1<<15),
	span("execution.checkpointing.interval", "", "Period of checkpoints; none without it.").bounds(10, 1<<62),
	span("execution.checkpointing.timeout", "10 min", "A checkpoint that takes longer fails."),
	span("execution.checkpointing.min-pause", "0 ms", "Least time between the end of a checkpoint and the next one."),
	number("execution.checkpointing.tolerable-failed-checkpoints", "0", "Failures in a row before the job fails.").bounds(0, maxInt),
	choice("execution.checkpointing.externalized-checkpoint-retention", "NO_EXTERNALIZED_CHECKPOINTS", "What becomes of the checkpoints of a cancelled job.",
		"org.apache.flink.streaming.api.environment.ExternalizedCheckpointRetention",
		"DELETE_ON_CANCELLATION", "RETAIN_ON_CANCELLATION", "NO_EXTERNALIZED_CHECKPOINTS"),
	text("restart-strategy.type", "", "none, fixed-delay, failure-rate or exponential-delay; without checkpoints none, with them exponential-delay.").old("restart-strategy"),
	number("restart-strategy.fixed-delay.attempts", "1", "Restarts at most.").bounds(0, maxInt),
	span("restart-strategy.fixed-delay.delay", "1 s", "Pause before a restart."),
	number("restart-strategy.failure-rate.max-failures-per-interval", "1", "Failures within the interval at most.").bounds(1, maxInt),
	span("restart-strategy.failure-rate.failure-rate-interval", "1 min", "The interval."),
	span("restart-strategy.failure-rate.delay", "1 s", "Pause before a restart."),
	span("restart-strategy.exponential-delay.initial-backoff", "1 s", "First pause."),
	span("restart-strategy.exponential-delay.max-backoff", "1 min", "Longest pause."),
	float("restart-strategy.exponential-delay.backoff-multiplier", "1.5", "Growth of the pause."),
	span("restart-strategy.exponential-delay.reset-backoff-threshold", "1 h", "Quiet time after which the pause starts anew."),
	float("restart-strategy.exponential-delay.jitter-factor", "0.1", "Part of the pause that is random."),
	text("restart-strategy.exponential-delay.attempts-before-reset-backoff", "infinite", "Restarts at most before the pause starts anew."),
	choice("restart-strategy.on-data-error", "fail", "Whether a job that fails because of its data is restarted; not a key of Flink.", "", "fail", "restart"),
}

var stateKeys = []ConfigKey{
	text("state.backend.type", "badger", "badger or hashmap; rocksdb and forst mean badger.").old("state.backend"),
	text("execution.checkpointing.dir", "", "Directory of checkpoints.").old("state.checkpoints.dir"),
	text("execution.checkpointing.savepoint-dir", "", "Directory of savepoints.").old("state.savepoints.dir"),
	number("execution.checkpointing.num-retained", "1", "Checkpoints kept.").old("state.checkpoints.num-retained").bounds(1, maxInt),
}

var processKeys = []ConfigKey{
	number("taskmanager.numberOfTaskSlots", "8", "Task slots of the process.").process().bounds(1, 1<<15),
	long("slot.request.timeout", "300000", "Milliseconds that a started job waits for slots.").bounds(0, 1<<62),
	number("rest.port", "8081", "Port of the dashboard.").process().bounds(0, 65535),
	text("rest.bind-port", "", "Ports to listen on, the first free one: 8081, or 8081,50100-50200; rest.port without.").process(),
	text("rest.bind-address", "localhost", "Address that the dashboard listens on.").process(),
	long("web.refresh-interval", "3000", "Milliseconds between two looks of the dashboard.").process(),
	flag("web.cancel.enable", "true", "Whether the dashboard may cancel jobs.").process(),
	number("web.checkpoints.history", "10", "Checkpoints that the dashboard remembers.").process(),
	number("web.exception-history-size", "16", "Failures of a job that the dashboard remembers.").process(),
	text("web.access-control-allow-origin", "*", "Header of the dashboard.").process(),
}

// acceptedKeys have no effect; the text says why, where there is more to say.
var acceptedKeys = []ConfigKey{
	choice("execution.checkpointing.mode", "EXACTLY_ONCE", "checkpoints are exactly once always",
		"org.apache.flink.core.execution.CheckpointingMode", "EXACTLY_ONCE", "AT_LEAST_ONCE"),
	number("execution.checkpointing.max-concurrent-checkpoints", "1", "one checkpoint of a job runs at a time").bounds(1, maxInt),
	flag("execution.checkpointing.checkpoints-after-tasks-finish", "true", "checkpoints always go on when part of a job has ended").
		old("execution.checkpointing.checkpoints-after-tasks-finish.enabled"),
	flag("execution.checkpointing.create-subdir", "true", "checkpoints of a job always go to a directory of its own").old("state.checkpoints.create-subdir"),
	choice("execution.state-recovery.claim-mode", "NO_CLAIM", "what a job was restored from always stays where it is, as with NO_CLAIM",
		"org.apache.flink.core.execution.RestoreMode", "CLAIM", "NO_CLAIM", "LEGACY").old("execution.savepoint-restore-mode"),
	choice("jobmanager.execution.failover-strategy", "full", "a failure always restarts the whole job", "", "region", "full"),
	choice("table.exec.uid.generation", "PLAN_ONLY", "operators always have stable ids", execOptions+"UidGeneration", "PLAN_ONLY", "ALWAYS", "DISABLED"),
	flag("table.plan.force-recompile", "false", "plans are not kept in files"),
	flag("table.exec.simplify-operator-name-enabled", "true", "operators always have short names"),
	text("table.builtin-catalog-name", DefaultCatalog, "the first catalog is always default_catalog"),
	text("table.builtin-database-name", DefaultDatabase, "the first database is always default_database"),
	text("rest.address", "localhost", "the port listens on rest.bind-address"),
	span("rest.async.store-duration", "5 min", "the newest 1000 results are kept"),
	flag("web.submit.enable", "false", "nothing here could run a jar"),
	number("web.history", "5", "the newest 100 ended jobs are remembered"),
	flag("sql-client.verbose", "false", "errors always say everything known about them"),
	text("sql-gateway.endpoint.rest.address", "", "there is no SQL gateway"),
	number("sql-gateway.endpoint.rest.port", "8083", "there is no SQL gateway").bounds(0, 65535),
	text("table.exec.sink.nested-constraint-enforcer", "IGNORE", ""),
	text("table.exec.sink.upsert-materialize-strategy.type", "LEGACY", ""),
	flag("table.exec.async-lookup.key-ordered-enabled", "false", ""),
	flag("table.exec.async-state.enabled", "false", ""),
	long("table.exec.rank.topn-cache-size", "10000", ""),
	number("table.exec.window-agg.buffer-size-limit", "100000", ""),
	number("table.exec.unbounded-over.version", "2", ""),
	text("table.exec.uid.format", "<id>_<transformation>", ""),
	flag("table.exec.legacy-transformation-uids", "false", ""),
	text("table.exec.disabled-operators", "", ""),
	number("table.exec.sort.default-limit", "-1", ""),
	flag("table.exec.sort.async-merge-enabled", "true", ""),
	number("table.exec.sort.max-num-file-handles", "128", ""),
	flag("table.exec.spill-compression.enabled", "true", ""),
	memory("table.exec.spill-compression.block-size", "64 kb", ""),
	flag("table.exec.local-hash-agg.adaptive.enabled", "true", ""),
	flag("table.exec.operator-fusion-codegen.enabled", "false", ""),
	text("table.exec.shuffle-mode", "", ""),
	text("table.catalog-store.kind", "generic_in_memory", "catalogs live as long as the session; an init script (-i) makes them again"),
	number("table.generated-code.max-length", "4000", ""),
	text("table.plan.compile.catalog-objects", "ALL", ""),
	text("table.plan.restore.catalog-objects", "ALL", ""),
	flag("table.rtas-ctas.atomicity-enabled", "false", ""),
	text("table.resources.download-dir", "", ""),
	flag("table.legacy-nested-row-nullability", "false", ""),
	choice("table.optimizer.agg-phase-strategy", "AUTO", "ONE_PHASE: no local aggregation in front of the exchange of an aggregation",
		"org.apache.flink.table.api.config.AggregatePhaseStrategy", "AUTO", "ONE_PHASE", "TWO_PHASE"),
	flag("table.optimizer.incremental-agg-enabled", "true", "with split DISTINCT and mini-batches, the phases between the two exchanges are one operator"),
	flag("table.optimizer.reuse-sink-enabled", "false", ""),
	flag("table.optimizer.reuse-optimize-block-with-digest-enabled", "false", ""),
	flag("table.optimizer.source.predicate-pushdown-enabled", "true", ""),
	flag("table.optimizer.source.report-statistics-enabled", "true", ""),
	flag("table.optimizer.union-all-as-breakpoint-enabled", "true", ""),
	flag("table.optimizer.join-reorder-enabled", "false", ""),
	number("table.optimizer.bushy-join-reorder-threshold", "12", ""),
	long("table.optimizer.join.broadcast-threshold", "1048576", ""),
	flag("table.optimizer.multiple-input-enabled", "true", ""),
	flag("table.optimizer.dynamic-filtering.enabled", "true", ""),
	flag("table.optimizer.runtime-filter.enabled", "false", ""),
	flag("table.optimizer.sql2rel.project-merge.enabled", "false", ""),
	flag("table.optimizer.multi-join.enabled", "false", ""),
	text("sql-client.prompt.pattern", "", ""),
	text("execution.batch-shuffle-mode", "ALL_EXCHANGES_BLOCKING", ""),
	flag("execution.state-recovery.from-local", "false", ""),
	flag("execution.attached", "false", ""),
	flag("execution.shutdown-on-attached-exit", "false", ""),
	text("execution.target", "local", ""),
	flag("pipeline.operator-chaining.chain-operators-with-different-max-parallelism", "true", ""),
	flag("pipeline.object-reuse", "false", ""),
	text("pipeline.global-job-parameters", "", ""),
	text("pipeline.vertex-description-mode", "TREE", ""),
	flag("pipeline.vertex-name-include-index-prefix", "false", ""),
	flag("pipeline.watermark-alignment.allow-unaligned-source-splits", "false", ""),
	text("pipeline.jobvertex-parallelism-overrides", "", ""),
	text("pipeline.closure-cleaner-level", "RECURSIVE", ""),
	span("execution.checkpointing.interval-during-backlog", "", "no source says that it has a backlog"),
	flag("execution.checkpointing.unaligned.enabled", "false", "barriers never overtake rows").old("execution.checkpointing.unaligned"),
	span("execution.checkpointing.aligned-checkpoint-timeout", "0 ms", "barriers never overtake rows").old("execution.checkpointing.alignment-timeout"),
	flag("execution.checkpointing.unaligned.forced", "false", "barriers never overtake rows"),
	flag("execution.checkpointing.unaligned.interruptible-timers.enabled", "false", "barriers never overtake rows"),
	flag("execution.checkpointing.snapshot-compression", "false", ""),
	flag("execution.checkpointing.local-backup.enabled", "false", ""),
	number("minicluster.number-of-taskmanagers", "1", "all tasks run in this process").old("local.number-taskmanager"),
	text("jobmanager.scheduler", "Default", "to change the parallelism, stop a job with a savepoint and start it from that"),
	text("scheduler-mode", "", "to change the parallelism, stop a job with a savepoint and start it from that"),
	long("slot.idle.timeout", "50000", ""),
	flag("cluster.evenly-spread-out-slots", "false", ""),
	text("taskmanager.load-balance.mode", "NONE", ""),
	flag("execution.checkpointing.incremental", "true", "").old("state.backend.incremental"),
	text("execution.checkpointing.storage", "", "").old("state.checkpoint-storage"),
	flag("state.backend.local-recovery", "false", ""),
	memory("execution.checkpointing.data-inline-threshold", "20kb", "").old("state.storage.fs.memory-threshold"),
	number("execution.checkpointing.write-buffer-size", "4096", "").old("state.storage.fs.write-buffer-size"),
	flag("state.latency-track.keyed-state-enabled", "false", ""),
	flag("execution.checkpointing.cleaner.parallel-mode", "true", "").old("state.checkpoint.cleaner.parallel-mode"),
	text("taskmanager.state.local.root-dirs", "", ""),
	text("rest.url-prefix", "/", ""),
	span("rest.connection-timeout", "15 s", ""),
	span("rest.idleness-timeout", "5 min", ""),
	number("rest.retry.max-attempts", "20", ""),
	span("rest.retry.delay", "3 s", ""),
	flag("web.rescale.enable", "true", ""),
	long("web.timeout", "600000", ""),
	text("web.tmpdir", "", ""),
	text("web.upload.dir", "", ""),
	text("web.log.path", "", ""),
	text("sql-gateway.endpoint.type", "rest", ""),
	span("sql-gateway.session.idle-timeout", "10 min", ""),
	number("sql-gateway.session.max-num", "1000000", ""),
	text("jobmanager.rpc.address", "localhost", ""),
	number("jobmanager.rpc.port", "6123", ""),
	text("metrics.reporters", "", "metrics are read over the REST port"),
	long("metrics.latency.interval", "0", ""),
	flag("metrics.system-resource", "false", ""),
	long("heartbeat.interval", "10000", ""),
	long("heartbeat.timeout", "50000", ""),
}

var refusedKeys = []ConfigKey{
	text("pipeline.jars", "", "no jars are loaded: functions and connectors are built in"),
	text("table.catalog-store.file.path", "", "catalogs live as long as the session; a script of -i makes them anew"),
	text("pipeline.classpaths", "", "no classes are loaded: functions and connectors are built in"),
}

// configPrefixes are name-spaces whose keys are accepted without effect.
var configPrefixes = []string{
	"table.exec.resource.", "table.exec.async-scalar.", "table.exec.async-table.", "table.exec.async-ml-predict.", "table.module.",
	"table.exec.local-hash-agg.", "table.optimizer.runtime-filter.", "table.optimizer.skewed-join-optimization.",
	"table.exec.sink.upsert-materialize-strategy.", "table.exec.sink.upserts.", "table.materialized-table.",
	"execution.checkpointing.file-merging.", "execution.checkpointing.local-backup.", "execution.sorted-inputs.",
	"state.backend.rocksdb.", "state.backend.forst.", "state.backend.latency-track.", "state.latency-track.",
	"metrics.", "env.", "taskmanager.memory.", "jobmanager.memory.", "akka.", "pekko.", "security.", "high-availability.",
	"pipeline.serialization-config", "pipeline.registered-", "rest.cache.", "rest.server.", "rest.client.", "sql-gateway.worker.",
	"kubernetes.", "yarn.", "$internal.",
}
