# A kill and an error at every fault point of every verb, then delete --force: as root, some minutes. FAULTS='--scenario create --only
# init' for a part (test/faults/main.ts).
.PHONY: test-faults
test-faults: setup-test bin/runt $(T)/runt $(TEST_TOOLS)
	$(TSX) test/faults/main.ts $(FAULTS)
	RUNT_LONG_WAITS=1 node_modules/.bin/vitest run --project faults test/faults/long-waits.test.ts
