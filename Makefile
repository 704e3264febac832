# bin/runt: TypeScript -> esbuild -> QuickJS bytecode, with the C host module and the embedded helper in one static executable.

MAKEFLAGS += --no-builtin-rules
# `make V=1` shows the commands.
Q := $(if $(V),,@)
.SUFFIXES:
.DELETE_ON_ERROR:

PREFIX ?= /usr/local
DEBUG ?=
# The triplet of the machine that the programs are for where it is not this one: `make arm64` (tools/cross.mk).
TARGET ?=
TOOL := $(if $(TARGET),$(TARGET)-)
# What runs a program of that machine on this one.
RUN := $(if $(TARGET),qemu-$(firstword $(subst -, ,$(TARGET)))-static )
KERNEL_INCLUDE := $(if $(TARGET),/usr/$(TARGET)/include,/usr/include)
TSX := node_modules/.bin/tsx

comma := ,
B := build
CC := $(if $(TARGET),$(B)/toolchain/musl-gcc,musl-gcc)
GEN := $(B)/gen

# tools/setup.sh leaves this file when everything the build needs is there.
SETUP := $(B)/.setup

# What bin/runt is made of: the program, its host module, and what it shares with the helper.
PROGRAM_SOURCES := $(sort $(wildcard native-bindings/program/*.c native-bindings/host/*.c native-bindings/twins/*.c))
SHARED_SOURCES := $(sort $(wildcard native-bindings/shared/*.c))
SHARED_HEADERS := $(wildcard native-bindings/shared/*.h)
# What both languages know: the C headers are generated.
PROTOCOL_SOURCES := $(wildcard src/shared/protocol/*.ts src/shared/protocol/*/*.ts src/shared/linux/*.ts)
PROTOCOL_HEADERS := $(addprefix $(GEN)/protocol/,embedded.h errors.h exit_record.h log.h messages.h monitor.h operations.h page.h \
	plan.h prepared.h state_summary.h trace_area.h)
PROGRAM_OBJECTS := $(PROGRAM_SOURCES:native-bindings/%.c=$(B)/%.o) $(SHARED_SOURCES:native-bindings/%.c=$(B)/%.o)
# The libraries and the daemon run on Node, and the client is a program of its own: no part of the program.
OTHER_WINGS := node executor engine pod client runtd runtctl
TS_SOURCES := $(shell find src $(foreach wing,$(OTHER_WINGS),-path src/$(wing) -prune -o) -name '*.ts' -not -name '*.test.ts' -print 2>/dev/null)
LIBRARY_SOURCES := $(shell find $(OTHER_WINGS:%=src/%) src/shared -name '*.ts' -not -name '*.test.ts' 2>/dev/null)

WARNINGS := -Wall -Wextra -Werror -Wshadow -Wvla -Wformat=2 -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wcast-qual \
	-Wwrite-strings -Wnull-dereference -Wconversion -Wno-sign-conversion
# docs/decisions/0028-hardening.md. The libraries get them too, the interpreter of QuickJS only the first.
HARDENING := -fno-pie -fstack-protector-strong -fstack-clash-protection -ftrivial-auto-var-init=zero
CFLAGS := -std=gnu17 -O2 $(WARNINGS) $(HARDENING) -ffunction-sections -fdata-sections -fno-unwind-tables -fno-asynchronous-unwind-tables
CPPFLAGS := -D_GNU_SOURCE -isystem $(B)/quickjs/include -isystem $(B)/libseccomp/include -I$(GEN) -idirafter $(B)/kernel-headers
LDFLAGS := -static -no-pie -Wl,--gc-sections -Wl,-z,noexecstack -Wl,-z,norelro -Wl,-T,native-bindings/program/image.ld -Wl,-T,$(GEN)/text.ld -Wl,-e,host_start

# Everything that what is in bin/ needs: runtd is of dist/, and starts runt-pause.
.PHONY: all
all: library

# The helper: $(B)/runt-init.
include native-bindings/init/build.mk

# ---- tools and generated sources
$(SETUP): tools/setup.sh package-lock.json
	@mkdir -p $(B)
	@tools/setup.sh build
	@touch $@

PATCHING := tools/debian-source.sh tools/apply-patches.sh

$(B)/quickjs/version: tools/quickjs.sh $(PATCHING) $(wildcard tools/quickjs/patches/*) | $(SETUP)
	$(Q)CC=$(CC) AR=$(TOOL)ar HARDENING='$(HARDENING)' tools/quickjs.sh $(B)/quickjs
	@touch $@

$(B)/libseccomp/version: tools/libseccomp.sh tools/libseccomp-compile.sh tools/libseccomp/memory.c $(PATCHING) $(wildcard tools/libseccomp/patches/*) | $(SETUP)
	$(Q)CC=$(CC) AR=$(TOOL)ar KERNEL_INCLUDE=$(KERNEL_INCLUDE) HARDENING='$(HARDENING)' tools/libseccomp.sh $(B)/libseccomp
	@touch $@

# musl brings no kernel headers: those of the system, and nothing else of it.
$(B)/kernel-headers: | $(SETUP)
	@mkdir -p $@
	$(Q)ln -sfn $(KERNEL_INCLUDE)/linux $@/linux
	$(Q)ln -sfn $(KERNEL_INCLUDE)/asm-generic $@/asm-generic
	$(Q)ln -sfn $(if $(TARGET),$(KERNEL_INCLUDE),$(KERNEL_INCLUDE)/$$(cc -print-multiarch))/asm $@/asm

$(PROTOCOL_HEADERS) &: tools/gen-protocol.ts $(wildcard tools/gen-protocol/*.ts) $(PROTOCOL_SOURCES) | $(SETUP)
	$(Q)$(TSX) tools/gen-protocol.ts $(GEN)/protocol

SCHEMA_SOURCES := $(wildcard src/runtime/spec/schema/*.ts)
$(GEN)/shape.js: tools/gen-shape.ts $(SCHEMA_SOURCES) | $(SETUP)
	@mkdir -p $(GEN)
	$(Q)$(TSX) tools/gen-shape.ts $(GEN)

$(GEN)/schema-plan.json: tools/gen-documents.ts tools/gen-schema.ts $(SCHEMA_SOURCES) $(wildcard src/runtime/spec/schema/documents/*.ts) $(PROTOCOL_SOURCES) | $(SETUP)
	@mkdir -p $(GEN)
	$(Q)$(TSX) tools/gen-documents.ts $(GEN)

$(GEN)/schema.json: tools/gen-schema.ts $(SCHEMA_SOURCES) $(GEN)/shape.js $(GEN)/schema-plan.json | $(SETUP)
	@mkdir -p $(GEN)
	$(Q)$(TSX) tools/gen-schema.ts $(GEN)

# Version and commit: the file changes only when they do.
$(GEN)/build.h: FORCE
	@mkdir -p $(GEN)
	@tools/build-header.sh > $@.new; cmp -s $@.new $@ && rm $@.new || mv $@.new $@
.PHONY: FORCE
FORCE:

# ---- the program
# Users other than the builder run the programs, and so do containers, whatever the umask of the build.
FOR_EVERYBODY := chmod 0755
BUNDLE_TOOLS := $(wildcard tools/*.ts tools/bundle/*.ts)
BYTECODE_COMPILER := $(B)/bytecode-compiler
HOST_CFLAGS := $(CFLAGS) $(CPPFLAGS)

$(BYTECODE_COMPILER): tools/bytecode.c $(B)/quickjs/version | $(B)/kernel-headers
	$(Q)$(CC) $(HOST_CFLAGS) $< -o $@ $(B)/quickjs/lib/libquickjs.a -lm -static

# A change between the two kinds of build makes the bytecode anew.
$(B)/.mode: FORCE
	@mkdir -p $(B)
	@printf '%s\n' '$(DEBUG)' | cmp -s - $@ || printf '%s\n' '$(DEBUG)' > $@

# Also when a file was removed: the list of sources is part of it.
$(B)/.sources: FORCE
	@mkdir -p $(B)
	@printf '%s\n' $(sort $(TS_SOURCES)) | cmp -s - $@ || printf '%s\n' $(sort $(TS_SOURCES)) > $@

# Likewise for C, whose objects some tests link as they find them.
$(B)/.objects: FORCE
	@mkdir -p $(B)
	@printf '%s\n' $(PROGRAM_OBJECTS) | cmp -s - $@ || { rm -f $(filter-out $(PROGRAM_OBJECTS),$(wildcard $(foreach room,program host twins shared,$(B)/$(room)/*.o))); \
		printf '%s\n' $(PROGRAM_OBJECTS) > $@; }

$(GEN)/embed.S: $(TS_SOURCES) docs/troubleshooting.md $(BUNDLE_TOOLS) package.json package-lock.json $(GEN)/schema.json $(BYTECODE_COMPILER) $(B)/.mode $(B)/.sources
	@echo "  bundle $@"
	$(Q)RUNT_TARGET=$(TARGET) $(TSX) tools/bundle.ts $(if $(DEBUG),--debug)

$(B)/program/%.o: native-bindings/program/%.c $(B)/quickjs/version $(B)/libseccomp/version | $(B)/kernel-headers $(GEN)/build.h $(PROTOCOL_HEADERS)
	@mkdir -p $(@D)
	@echo "  cc $<"
	$(Q)$(CC) $(HOST_CFLAGS) -MMD -MP -c $< -o $@
$(B)/twins/%.o: native-bindings/twins/%.c $(B)/quickjs/version $(B)/libseccomp/version | $(B)/kernel-headers $(GEN)/build.h $(PROTOCOL_HEADERS)
	@mkdir -p $(@D)
	@echo "  cc $<"
	$(Q)$(CC) $(HOST_CFLAGS) -MMD -MP -c $< -o $@
$(B)/host/%.o: native-bindings/host/%.c $(B)/quickjs/version $(B)/libseccomp/version | $(B)/kernel-headers $(GEN)/build.h $(PROTOCOL_HEADERS)
	@mkdir -p $(@D)
	@echo "  cc $<"
	$(Q)$(CC) $(HOST_CFLAGS) -MMD -MP -c $< -o $@
-include $(PROGRAM_OBJECTS:.o=.d)

SHARED_CFLAGS = $(INIT_WARNINGS) -O2 -ffreestanding $(HARDENING) -DRUNT_HOSTED -fno-unwind-tables -fno-asynchronous-unwind-tables -ffunction-sections -fdata-sections -I$(GEN)
$(B)/shared/%.o: native-bindings/shared/%.c $(SHARED_HEADERS) $(PROTOCOL_HEADERS)
	@mkdir -p $(@D)
	@echo "  cc $<"
	$(Q)$(INIT_CC) $(SHARED_CFLAGS) -c $< -o $@

$(B)/embed.o: $(GEN)/embed.S $(B)/runt-init
	$(Q)$(CC) -c $< -o $@

# Functions in the order of their first call: the pages of those that no verb calls are not mapped.
$(GEN)/text.ld: native-bindings/program/text.order tools/text-order/linker-script.ts | $(SETUP)
	@mkdir -p $(GEN)
	$(Q)$(TSX) tools/text-order/linker-script.ts $< > $@

# Records that order anew, as root on x86_64.
.PHONY: profile-order
profile-order: bin/runt bundles
	@mkdir -p $(B)/text-order
	$(Q)$(CC) $(CFLAGS) -idirafter $(B)/kernel-headers -static tools/text-order/record.c -o $(B)/text-order/record
	$(TSX) tools/text-order/record.ts

# Under this name the program prints the memory of its started engine, which then becomes part of bin/runt (image.c).
$(B)/runt-image-writer: $(PROGRAM_OBJECTS) $(B)/.objects $(B)/embed.o $(B)/quickjs/version $(B)/libseccomp/version native-bindings/program/image.ld $(GEN)/text.ld
	$(Q)LC_ALL=C $(CC) $(LDFLAGS) $(PROGRAM_OBJECTS) $(B)/embed.o $(B)/quickjs/lib/libquickjs.a $(B)/libseccomp/lib/libseccomp.a -lm \
		-Wl,-Map=$(B)/runt.map -o $@

$(B)/engine.image: $(B)/runt-image-writer
	@$(RUN)$< > $@ || { echo "engine image: a module makes a system call when it is loaded, or the image is too small" >&2; exit 1; }

# A debug build keeps its symbols and starts the engine anew each time.
bin/runt: $(B)/runt-image-writer $(if $(DEBUG),,$(B)/engine.image)
	@mkdir -p bin
	@echo "  link $@"
	$(Q)$(if $(DEBUG),cp $< $@,$(TOOL)objcopy -S --update-section .image=$(B)/engine.image $< $@)
	$(Q)$(FOR_EVERYBODY) $@

include native-bindings/testing/build.mk
include tools/newer-toolchain.mk
include tools/cross.mk

# The client of the daemon: bin/runtctl.
include native-bindings/client/build.mk

# What holds the namespaces that the containers of a task share.
bin/runt-pause: $(wildcard native-bindings/pause/*.[ch]) | $(B)/kernel-headers $(SETUP)
	@mkdir -p bin
	@echo "  cc $<"
	$(Q)$(CC) -std=gnu17 -Os $(WARNINGS) $(HARDENING) -idirafter $(B)/kernel-headers -static -no-pie -s $(filter %.c,$^) -o $@
	$(Q)$(FOR_EVERYBODY) $@

# ---- the npm package: dist/ (docs/library)
dist/executor/index.js: $(LIBRARY_SOURCES) src/library.tsconfig.json src/executor/tsconfig.json tsconfig.json package.json tools/bundle-daemon.ts | $(SETUP)
	@rm -rf dist
	@echo "  tsc dist"
	$(Q)node node_modules/typescript-7/bin/tsc -p src/library.tsconfig.json || { rm -rf dist; exit 1; }
	@echo "  bundle dist/runtd"
	$(Q)$(TSX) tools/bundle-daemon.ts || { rm -rf dist; exit 1; }
	@chmod +x dist/runtd/main.js

# The daemon, under the name that the npm package gives it.
bin/runtd: | dist/executor/index.js
	@mkdir -p bin
	@ln -sfn ../dist/runtd/main.js $@

.PHONY: library
library: dist/executor/index.js bin/runt bin/runt-pause bin/runtd bin/runtctl

# The reference of its types, for a browser: build/docs/library.
.PHONY: library-docs
library-docs: | $(SETUP)
	node_modules/.bin/typedoc

# ---- use
.PHONY: demo
demo: bin/runt
	bundles/demo.sh

# A task of three containers under the daemon, which is killed in between.
.PHONY: demo-task
demo-task: library
	bundles/demo-task.sh

# Untrusted programs in a pool of prepared containers.
.PHONY: demo-pool
demo-pool: library
	bundles/demo-pool.sh

# The property that nothing crosses from one box of a pool to the next, RUNS=10000 times.
.PHONY: test-pool-long
test-pool-long: setup-test bin/runt $(TEST_TOOLS)
	POOL_RUNS=$(or $(RUNS),10000) $(B)/test/plain node_modules/.bin/vitest run --project library --testTimeout 0 test/library/pool.test.ts -t "nothing crosses"

# A pod of Kubernetes: probes, a volume in memory, an eviction (README.md).
.PHONY: demo-pod
demo-pod: library
	bundles/demo-pod.sh

# The picture of README.md, of what its commands print now.
.PHONY: recording
recording: library
	bundles/recording.sh >$(B)/recording.txt
	$(TSX) tools/gen-recording.ts docs/pictures/first-minute.svg <$(B)/recording.txt

# A Compose project: a build, a named volume, and a new version of a service (docs/engine/compose.md).
.PHONY: demo-compose
demo-compose: library
	bundles/demo-compose.sh

# Sample bundles with root file systems, under build/bundles.
.PHONY: bundles
bundles: | $(SETUP)
	bundles/build.sh

# Small programs the tests are started with; the files that are included below name them.
TEST_TOOLS := $(B)/test/refuse $(B)/test/plain
$(TEST_TOOLS): $(B)/test/%: test/support/%.c | $(B)/kernel-headers
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) -idirafter $(B)/kernel-headers -static $< -o $@

include packaging/install.mk
include tools/guest-image/guest-image.mk
-include packaging/supply.mk
include tools/release.mk
include site/site.mk

# Engine, library, the guest's disk and the trees of other Debians stay: they take downloads and half a minute each.
.PHONY: clean
clean:
	find $(B) -mindepth 1 -maxdepth 1 ! -name quickjs ! -name libseccomp ! -name guest ! -name hosts ! -name newer -exec rm -rf {} + 2>/dev/null || true
	rm -f bin/runt bin/runtctl

.PHONY: distclean
distclean:
	rm -rf $(B) bin/runt bin/runt-pause bin/runtd bin/runtctl dist node_modules site/node_modules

include bench/bench.mk

# ---- tests
.PHONY: setup-test
setup-test: | $(SETUP)
	@tools/setup.sh test

# Everything that the tests of `make test` run.
.PHONY: test-programs
test-programs: newer-tree arm64-optional bin/runt $(T)/runt $(TEST_TOOLS) $(BENCH_TOOLS) native-test-tools library

.PHONY: test
test: setup-test
	$(Q)$(MAKE) --no-print-directory -j$$(nproc) test-programs
	tools/test.sh -j 4 engine@private e2e@shared-v2 unit lint e2e@private/cgroups native@private security faults@private library clients readme \
		differential@private findings native@shared/mounts walk conformance differential@shared/mounts guard native-host

# The quick part, of what has changed (tools/check.sh): less than a minute once everything is built, on two processors that have nothing else to do.
.PHONY: check
check: setup-test arm64-optional bin/runt $(TEST_TOOLS) $(BENCH_TOOLS) native-test-tools
	tools/check.sh

# What README.md has its reader type, typed. In a clone where nothing is built, npm's packages and all: some minutes. Part of `make test`, in a
# copy of this tree with what is built here: `tools/test.sh readme`.
.PHONY: test-readme
test-readme: setup-test
	RUNT_README=fresh node_modules/.bin/vitest run --project readme

# SHARD=1/4 runs a quarter of the files.
.PHONY: test-unit test-native test-e2e test-clients test-differential
test-native: arm64-optional
test-unit: $(GEN)/schema.json
	tools/test.sh unit
test-native test-e2e test-clients test-differential: test-%: setup-test bin/runt $(TEST_TOOLS) $(BENCH_TOOLS) native-test-tools
	tools/test.sh $*

# The lanes of which `make test` takes in a second place only the files about cgroups or mounts, there as a whole.
.PHONY: test-places
test-places: setup-test bin/runt $(T)/runt $(TEST_TOOLS) $(BENCH_TOOLS) native-test-tools library
	tools/test.sh e2e@private native@shared differential@shared

# What validate says, beside what create does with 20,000 edits of real configurations, really created: about an hour on two idle processors. EDITS=500 SEED=7
# for others; `make test` tries 100.
.PHONY: test-findings
test-findings: setup-test bin/runt $(TEST_TOOLS) $(BENCH_TOOLS) native-test-tools
	RUNT_AGREEMENT=$(or $(EDITS),20000) RUNT_AGREEMENT_SEED=$(or $(SEED),1) tools/test.sh findings

.PHONY: test-library test-library-long test-engine
test-library test-engine: test-%: setup-test library $(TEST_TOOLS)
	tools/test.sh $*

# Supervisors killed until 50 executors are adopted, and 10 rounds of 100 executors: some minutes.
test-library-long: setup-test library $(TEST_TOOLS)
	RUNT_TEST_ADOPTIONS=50 RUNT_TEST_ROUNDS=10 RUNT_TEST_EXECUTORS=100 $(B)/test/plain node_modules/.bin/vitest run --project library test/library/crash.test.ts

# The daemon of tasks killed at each point of each action, each ten times, again with lost records of its container, and again with something of somebody else's in the
# place of what the task has on disk; and 500 kills at random of daemon, pumps,
# monitors and runt, with records lost between them: an hour. RUNT_ENGINE_SEED=7 for others.
.PHONY: test-engine-kills
test-engine-kills: setup-test library $(TEST_TOOLS)
	RUNT_ENGINE_AIMED_KILLS=10 RUNT_ENGINE_RANDOM_KILLS=500 $(B)/test/plain node_modules/.bin/vitest run --project engine \
		test/engine/aimed-kills.test.ts test/engine/aimed-losses.test.ts test/engine/random-kills.test.ts

# 50 random sets of networks, 50 bridge tasks under aimed kills, 1,000 tasks through room for 20, an image of 100,000 files,
# and a container that prints 1 MB/s while no daemon is there for a minute: half an hour.
.PHONY: test-engine-long
test-engine-long: setup-test library $(TEST_TOOLS)
	RUNT_ENGINE_WALLS=50 $(B)/test/plain node_modules/.bin/vitest run --project engine test/engine/network-walls.test.ts
	RUNT_ENGINE_NETWORKS=50 $(B)/test/plain node_modules/.bin/vitest run --project engine test/engine/network-kills.test.ts
	RUNT_ENGINE_TASKS=1000 $(B)/test/plain node_modules/.bin/vitest run --project engine test/engine/queue.test.ts -t E35
	RUNT_ENGINE_FILES=100000 $(B)/test/plain node_modules/.bin/vitest run --project engine test/engine/many-files.test.ts
	RUNT_ENGINE_AWAY=60 $(B)/test/plain node_modules/.bin/vitest run --project engine test/engine/log-away.test.ts
	RUNT_COMPOSE_PAIRS=45 $(B)/test/plain node_modules/.bin/vitest run --project engine test/engine/compose-pairs.test.ts

# 1,000 updates of a service of three replicas under 200 requests a second: every fifth version is broken, the daemon is killed in a third, and the packet filter is flushed
# in a tenth. An hour and a half. UPDATES=60 for fewer, SEED=7 for others.
.PHONY: test-deploys
test-deploys: setup-test library $(TEST_TOOLS)
	RUNT_DEPLOYS=$(or $(UPDATES),1000) RUNT_ENGINE_SEED=$(or $(SEED),1) $(B)/test/plain node_modules/.bin/vitest run --project engine \
		test/engine/deploys.test.ts

# Documents of pods and of the host, decoded by the types of Kubernetes (Go; it gets their modules).
.PHONY: test-pod-documents
test-pod-documents: setup-test $(TEST_TOOLS)
	@if command -v go >/dev/null; then \
	    (cd test/engine/strict-decoder && go build -trimpath -o "$(CURDIR)/$(B)/test/strict-decoder" .) && \
	    $(B)/test/plain node_modules/.bin/vitest run --project unit test/unit/engine/pod-documents.test.ts; \
	else echo "test-pod-documents skipped: there is no Go"; fi

# What the executor does, by the tests that show it, into docs/executor-behaviour.md.
.PHONY: executor-behaviour
executor-behaviour: setup-test library $(TEST_TOOLS)
	tools/test.sh library
	$(TSX) tools/gen-executor-behaviour.ts

# What the task engine is to do, and the tests that have its numbers in their titles, into docs/engine/behaviour.md and the pages below it.
.PHONY: engine-behaviour
engine-behaviour: | $(SETUP)
	$(TSX) tools/gen-engine-behaviour.ts

# 100,000 mutated configurations: none makes validate fail, none takes it long. FUZZ=1000000 SEED=7 for others.
.PHONY: fuzz-config
fuzz-config: setup-test bin/runt
	RUNT_FUZZ=$(or $(FUZZ),100000) RUNT_FUZZ_SEED=$(or $(SEED),1) node_modules/.bin/vitest run --project findings test/findings/fuzz.test.ts

# What validate says of broken bundles, beside what create does and what runc and crun do: as root, some minutes, into docs/findings.md.
.PHONY: findings
findings: setup-test bin/runt
	$(TSX) test/findings/matrix.ts --write
	$(TSX) test/findings/peers.ts --write

-include test/security/security.mk
-include $(wildcard test/faults/*.mk)
-include test/fuzz-init/fuzz.mk
-include test/fuzz-channel/fuzz.mk
-include test/fuzz-doors/fuzz.mk
-include test/walk/walk.mk

# With the ways to save time switched off everything works, a little slower: no head start, and the operations in their natural order.
# Left out: what looks at the file bin/runt itself.
WITHOUT_OVERLAP := RUNT_DISABLE=head-start,schedule $(B)/test/plain
OF_THE_PRODUCT := $(patsubst %,test/e2e/%.test.ts,binary hardened-build sbom)
.PHONY: test-without-overlap
test-without-overlap: setup-test bin/runt $(T)/runt $(TEST_TOOLS) native-test-tools
	RUNTIME="$(CURDIR)/$(T)/runt" $(WITHOUT_OVERLAP) node_modules/.bin/vitest run --project e2e \
		$(filter-out $(OF_THE_PRODUCT),$(sort $(wildcard test/e2e/*.test.ts)))
	$(WITHOUT_OVERLAP) $(TSX) test/conformance/main.ts --runtime $(T)/runt

# Everything there is, for hours rather than minutes.
.PHONY: test-all
test-all: export RUNT_TEST_BUNDLES ?= 200
test-all: test test-places test-walk test-hostile test-cycles test-crowd test-findings fuzz-config test-without-overlap test-readme test-hosts test-library-long test-engine-kills test-engine-long test-deploys test-pod-documents test-security test-faults test-delays test-upgrade test-storm \
	test-supply test-npm test-runtimes test-release test-site test-engines test-compose-model test-kube-play mutants engine-mutants test-guest-long test-vm

# `make test` twice with the root mount shared and twice with it private, on a host that has others, too (tools/busy-host.sh): hours.
.PHONY: test-busy
test-busy: setup-test bin/runt
	set -e; for propagation in shared shared private private; do \
		tools/busy-host.sh unshare --mount --propagation private sh -c 'mount --make-r'$$propagation' / && exec make test'; \
	done

# Containers of earlier commits under this build, and back under theirs; half a minute for each commit the first time.
OLDER := 39f7c8c be2da82
.PHONY: test-upgrade
test-upgrade: setup-test bin/runt $(TEST_TOOLS) native-test-tools
	tools/older-build.sh $(OLDER)
	$(B)/test/plain node_modules/.bin/vitest run --project e2e test/e2e/upgrade.test.ts

# A minute of 30 exec a second.
.PHONY: test-storm
test-storm: setup-test bin/runt $(TEST_TOOLS) native-test-tools
	RUNT_TEST_SECONDS=60 $(B)/test/plain node_modules/.bin/vitest run --project e2e test/e2e/exec-storm.test.ts

# Over 200 random bundles, the system calls of run against its plan (test/e2e/plan-calls.test.ts).
.PHONY: plan-branches
plan-branches: setup-test bin/runt
	RUNT_TEST_BUNDLES=200 RUNT_TEST_BRANCHES=docs/plan-branches.md node_modules/.bin/vitest run --project e2e test/e2e/plan-calls.test.ts

# Compose files beside Docker Compose itself (test/unit/compose-model.test.ts), with those below CORPUS=DIR:DIR. Its package is Debian's; where it cannot be had, the
# recorded answers are all there is. A hundred files of CORPUS are started, too, with stub images (test/engine/compose-started.test.ts).
.PHONY: test-compose-model
test-compose-model: setup-test library $(TEST_TOOLS)
	@tools/debian-package.sh docker-compose sid $(B)/docker-compose || echo 'docker-compose is not there: only what it has said before is compared'
	RUNT_COMPOSE_ORACLE=1 RUNT_COMPOSE_CORPUS=$(CORPUS) node_modules/.bin/vitest run --project unit test/unit/compose-model.test.ts
	[ -z "$(CORPUS)" ] || RUNT_COMPOSE_STARTED=100 RUNT_COMPOSE_CORPUS=$(CORPUS) $(B)/test/plain node_modules/.bin/vitest run --project engine test/engine/compose-started.test.ts

# Kubernetes manifests of CORPUS=DIR:DIR with stub images, under `podman kube play` of the newest Podman of Debian and under runt, as root
# (test/engine/kube-started.test.ts). The differences are in build/test/kube-started.txt.
.PHONY: test-kube-play
test-kube-play: setup-test library $(TEST_TOOLS)
	@[ -n "$(CORPUS)" ] || echo 'test-kube-play: CORPUS names no manifests to compare'
	[ -z "$(CORPUS)" ] || $(PODMAN_TREE)
	[ -z "$(CORPUS)" ] || RUNT_KUBE_STARTED=60 RUNT_KUBE_CORPUS=$(CORPUS) RUNT_KUBE_PODMAN=$(abspath $(B)/podman) \
		unshare --mount --propagation private $(B)/test/plain node_modules/.bin/vitest run --project engine test/engine/kube-started.test.ts

# Real engines on runt, beside runc: as root, some minutes. ENGINES='--engines podman --only exec' for a part (test/engines/main.ts).
.PHONY: test-engines
test-engines: bin/runt
	@tools/setup.sh engines
	@tools/debian-package.sh containerd sid $(B)/containerd-newer || true
	$(TSX) test/engines/main.ts $(ENGINES)

# Every observable requirement of the OCI runtime specification, from outside. RUNTIME=crun,runc for others; else all three into
# docs/conformance.md, with what the guest has shown of cgroup v2.
.PHONY: conformance
conformance: setup-test bin/runt
	$(TSX) test/conformance/main.ts $(if $(RUNTIME),--runtime $(RUNTIME),--runtime runt$(comma)crun$(comma)runc --also $(B)/guest/results/v2/conformance.json --write)

# The validation programs of the OCI runtime-tools, from a tree that is built already: PROGRAMS=DIR. RUNTIME=crun, ONLY=hooks,mounts.
.PHONY: oci-validation
oci-validation: bin/runt
	$(TSX) test/oci-validation/main.ts --programs "$(PROGRAMS)" $(if $(RUNTIME),--runtime $(RUNTIME)) $(if $(ONLY),--only $(ONLY))

# The proof that the conformance tests bite: some minutes. MUTANTS='--only "mount option"' for a part (test/mutants/main.ts).
.PHONY: mutants
mutants: setup-test bin/runt
	$(TSX) test/mutants/main.ts $(or $(MUTANTS),--write)

# The same for the rows of the task engine (test/mutants/engine): one thing of it made wrong at a time, and the tests of that row. An hour:
# some tests wait five minutes for what a mutant keeps from happening.
# MUTANTS='--only E88,T5' for a part.
.PHONY: engine-mutants
engine-mutants: setup-test library $(TEST_TOOLS)
	$(TSX) test/mutants/engine/main.ts $(MUTANTS)

# A machine with systemd and cgroup v2, then v1, emulated by QEMU: as root, some minutes. GUEST='--modes v2 --lanes guest' for a part
# (test/guest/main.ts).
# test-guest-long: with all of test/e2e on v2, and more churn of systemd's units.
.PHONY: test-guest test-guest-long
test-guest test-guest-long: library $(B)/runt.spdx.json $(TEST_TOOLS) $(BENCH_TOOLS) native-test-tools
	@tools/setup.sh guest
	$(TSX) test/guest/main.ts $(if $(filter %-long,$@),--long) $(GUEST)

# `make demo` on a fresh Debian 12 and 13, with Node 20, 22 and 24, in clones in several places: as root, half an hour. The trees of both Debians
# are made once, below build/hosts; remove them for newer ones (test/hosts).
.PHONY: test-hosts
test-hosts: | $(SETUP)
	@tools/setup.sh hosts
	tools/test.sh hosts

# Instructions, system calls, heap and sizes of every verb, without a clock, beside what is recorded in test/guard/ceilings.json: with the host's
# cgroups, and on bare v2. GUARD=--write records them; GUARD='--only "bare v2"' or GUARD='--only host' counts one of the two.
.PHONY: guard
guard: setup-test bin/runt
	$(TSX) test/guard/main.ts $(GUARD)

.PHONY: lint
lint: $(GEN)/schema.json $(PROGRAM_OBJECTS) $(B)/runt-init
	tools/lint.sh

.PHONY: format
format: | $(SETUP)
	node_modules/.bin/biome check --write
	! tools/format-c.sh --can || tools/format-c.sh
