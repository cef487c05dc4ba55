.PHONY: coverage build test ci bench bench-nexmark fuzz

EVENTS ?= full

build: ## one static binary
	CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o runnel .

test: ## what the README says
	go test ./...

ci: ## what a change must pass
	.ci/run

bench: ## CPU time per row, one core, of every path
	go test -run '^$$' -bench . -benchtime 1s ./...

bench-nexmark: ## the Nexmark queries beside their limits; EVENTS=2000000 for a quick look, NEXMARK_COLD=1 with memory not touched before
	GODEBUG=madvdontneed=0 NEXMARK_EVENTS=$(EVENTS) go test -run '^$$' -bench Nexmark -benchtime 1x -timeout 0 .

fuzz: ## every fuzz target for a minute
	scripts/fuzz.sh 60s

coverage: ## how many of Flink's features have a test, see docs/coverage.tsv
	@go test -count=1 -v -run '^TestCoverage$$' . | grep features:
