# Kill -9 of the runtime at a random moment, then `delete --force`, 5,000 times: nothing may be left. As root, some minutes.
# CYCLES='--cycles 150 --runtime /usr/sbin/runc' for others (test/faults/cycles.ts).
.PHONY: test-cycles
test-cycles: setup-test bin/runt
	$(TSX) test/faults/cycles.ts $(CYCLES)

# Many verbs at once on one id, 200 rounds; the faults lane has 20.
.PHONY: test-crowd
test-crowd: setup-test bin/runt
	RUNT_CROWD_ROUNDS=$(or $(ROUNDS),200) node_modules/.bin/vitest run --project faults test/faults/crowd.test.ts
