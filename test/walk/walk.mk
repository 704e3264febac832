# `make test` takes the walks of one seed; these look for new ones.
WALK_SEED = $(or $(SEED),$$(($$(date +%s) % 1000000)))

# Verbs at random on 50 containers, each answer compared with a model's: SECONDS=180, SEED=7 to repeat one.
.PHONY: test-walk
test-walk: setup-test bin/runt $(TEST_TOOLS)
	RUNT_WALK_SECONDS=$(or $(SECONDS),180) RUNT_WALK_SEED=$(WALK_SEED) $(B)/test/plain node_modules/.bin/vitest run --project walk test/walk/walk.test.ts

# Verbs at random where others do what they like, on the host's cgroups and on cgroup v2: SECONDS=180, STEPS=2000, SEED=7 to repeat one.
HOSTILE = $(B)/test/plain node_modules/.bin/vitest run --project walk test/walk/hostile.test.ts
.PHONY: test-hostile
test-hostile: export RUNT_HOSTILE_SECONDS := $(or $(SECONDS),180)
test-hostile: export RUNT_HOSTILE_STEPS := $(or $(STEPS),1000000)
test-hostile: setup-test bin/runt $(TEST_TOOLS)
	RUNT_HOSTILE_SEED=$(WALK_SEED) $(HOSTILE)
	[ -e /sys/fs/cgroup/cgroup.controllers ] || RUNT_HOSTILE_SEED=$(WALK_SEED) test/walk/unified.sh $(HOSTILE)
