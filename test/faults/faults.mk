# A kill and an error at every fault point of every verb, then delete --force: as root, some minutes. FAULTS='--scenario create --only
# init' for a part (test/faults/main.ts).
.PHONY: test-faults
test-faults: setup-test bin/runt $(T)/runt $(TEST_TOOLS)
	$(TSX) test/faults/main.ts $(FAULTS)
	RUNT_LONG_WAITS=1 node_modules/.bin/vitest run --project faults test/faults/long-waits.test.ts

# Each process of a verb late at each of its points, one at a time: on the host's hierarchies, and on a cgroup v2 without controllers where these are
# v1. As root, some minutes (test/e2e/delays.test.ts).
DELAYS := $(B)/test/plain node_modules/.bin/vitest run --project e2e test/e2e/delays.test.ts
.PHONY: test-delays
test-delays: export RUNT_DELAYS := all
test-delays: setup-test bin/runt $(T)/runt $(TEST_TOOLS)
	$(DELAYS)
	[ -e /sys/fs/cgroup/cgroup.controllers ] || unshare --mount --propagation private sh -c \
		'umount --recursive /sys/fs/cgroup && mount -t cgroup2 cgroup2 /sys/fs/cgroup && exec $(DELAYS)'
