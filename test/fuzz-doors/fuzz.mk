# Hostile input at every door of a daemon, from a seed: `make fuzz-doors SECONDS=3600 SEED=7`.
.PHONY: fuzz-doors
fuzz-doors: setup-test library $(TEST_TOOLS)
	$(TSX) test/fuzz-doors/main.ts $(or $(SECONDS),600) $(or $(SEED),1)
