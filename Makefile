.PHONY: build test ci bench fuzz

build: ## one static binary
	CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o runnel .

test: ## what the README says
	go test ./...

ci: ## what a change must pass
	.ci/run

bench: ## CPU time per row, one core, of every path
	go test -run '^$$' -bench . -benchtime 1s ./...

fuzz: ## every fuzz target for a minute
	scripts/fuzz.sh 60s
