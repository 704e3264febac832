# Verbs at random on 50 containers, each answer compared with a model's: SECONDS=180, SEED=7 to repeat one.
.PHONY: test-walk
test-walk: setup-test bin/runt $(TEST_TOOLS)
	RUNT_WALK_SECONDS=$(or $(SECONDS),180) $(if $(SEED),RUNT_WALK_SEED=$(SEED)) $(B)/test/plain node_modules/.bin/vitest run --project walk
