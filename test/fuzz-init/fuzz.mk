# The helper under a fake kernel (test/fuzz-init/README.md). `make fuzz-init RUNS=10000000` with clang's libFuzzer; the tests replay the corpus
# with gcc. Included by the top Makefile after native-bindings/init/build.mk.

FUZZ_DIR := test/fuzz-init
FUZZ_HARNESS := $(filter-out $(FUZZ_DIR)/mutate%.c $(FUZZ_DIR)/replay.c,$(sort $(wildcard $(FUZZ_DIR)/*.c)))
FUZZ_MUTATOR := $(sort $(wildcard $(FUZZ_DIR)/mutate*.c))
FUZZ_HEADERS := $(wildcard $(FUZZ_DIR)/*.h native-bindings/testing/*.h) $(INIT_HEADERS)
# The entry, what makes the program ready to run, and the system call instruction stay out.
FUZZ_INIT := $(filter-out $(addprefix $(INIT_DIR)/,start.c self.c syscall.c),$(INIT_SOURCES))
FUZZ_CC ?= clang
FUZZ_WARNINGS := -std=c11 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes
FUZZ_FLAGS := -g -O2 -fno-omit-frame-pointer -fno-sanitize-recover=all -Ibuild/gen -I$(INIT_DIR)
# Its own memcpy and the like are tested too, under names that are not libc's.
FUZZ_OWN := $(foreach name,memcpy memmove memset memcmp strlen,-D$(name)=helper_$(name)) -ffreestanding

FUZZ_NAMES := $(notdir $(FUZZ_INIT:.c=.o))

# fuzz_variant NAME COMPILER FLAGS-OF-THE-HELPER LINK-FLAGS DRIVERS. FUZZ_OBJECTS_NAME: other objects than its own.
define fuzz_variant
build/fuzz/$(1)/init/%.o: $$(INIT_DIR)/%.c $$(FUZZ_HEADERS)
	@mkdir -p $$(@D)
	$$(Q)$(2) $$(INIT_WARNINGS) $$(FUZZ_FLAGS) $$(FUZZ_OWN) $(3) -c $$< -o $$@

build/fuzz/$(1)/init/%.o: native-bindings/shared/%.c $$(FUZZ_HEADERS)
	@mkdir -p $$(@D)
	$$(Q)$(2) $$(INIT_WARNINGS) $$(FUZZ_FLAGS) $$(FUZZ_OWN) $(3) -c $$< -o $$@

# One object, whose variables stand together and whose operations are called through watch.c.
build/fuzz/$(1)/helper.o: $$(or $$(FUZZ_OBJECTS_$(1)),$$(FUZZ_NAMES:%=build/fuzz/$(1)/init/%))
	@mkdir -p $$(@D)
	$$(Q)sed -n 's/^  X(\([a-z0-9_]*\),.*/op_\1 watched_op_\1/p' build/gen/protocol/operations.h > $$@.names
	$$(Q)objcopy --redefine-syms=$$@.names $$(filter %/main.o,$$^) build/fuzz/$(1)/main.o
	$$(Q)ld -r -o $$@ build/fuzz/$(1)/main.o $$(filter-out %/main.o,$$^)
	$$(Q)objcopy --set-section-flags .bss=alloc,load,contents,data --rename-section .bss=helper_state $$@

build/fuzz/$(1)/%.o: $$(FUZZ_DIR)/%.c $$(FUZZ_HEADERS)
	@mkdir -p $$(@D)
	$$(Q)$(2) $$(FUZZ_WARNINGS) $$(FUZZ_FLAGS) -fsanitize=address,undefined -c $$< -o $$@

build/fuzz/$(1)/run: build/fuzz/$(1)/helper.o $$(FUZZ_HARNESS:$$(FUZZ_DIR)/%.c=build/fuzz/$(1)/%.o) $(5:%=build/fuzz/$(1)/%)
	@echo "  link $$@"
	$$(Q)$(2) -fsanitize=address,undefined $(4) $$^ -o $$@
endef

# Without commas, which would be those of `call`.
FUZZ_SANITIZERS := -fsanitize=address -fsanitize=undefined
# Without libFuzzer's tracing of comparisons, which takes a quarter of the time: the mutator knows the values that count.
FUZZ_FEEDBACK := -fsanitize-coverage=inline-8bit-counters -fsanitize-coverage=pc-table $(FUZZ_SANITIZERS)
FUZZ_PROFILE := -fprofile-instr-generate -fcoverage-mapping $(FUZZ_SANITIZERS)

$(eval $(call fuzz_variant,clang,$(FUZZ_CC),$(FUZZ_FEEDBACK),-fsanitize=fuzzer,$(FUZZ_MUTATOR:$(FUZZ_DIR)/%.c=%.o)))
$(eval $(call fuzz_variant,gcc,$(INIT_CC),$(FUZZ_SANITIZERS),,replay.o))
$(eval $(call fuzz_variant,coverage,$(FUZZ_CC),$(FUZZ_PROFILE),-fprofile-instr-generate,replay.o))

# A copy of the decoder whose strings may lack their last byte: what the fuzzer and the corpus must find.
build/fuzz/planted/plan.c: $(INIT_DIR)/plan.c
	@mkdir -p $(@D)
	$(Q)sed 's/< (uint64_t)out->length + 1)/< (uint64_t)out->length)/' $< > $@.new
	$(Q)! cmp -s $< $@.new || { echo "$<: the place of the planted bug is not there any more" >&2; exit 1; }
	$(Q)mv $@.new $@

# planted_variant NAME LIKE COMPILER FLAGS-OF-THE-HELPER LINK-FLAGS DRIVERS
define planted_variant
build/fuzz/$(1)/init/plan.o: build/fuzz/planted/plan.c $$(FUZZ_HEADERS)
	@mkdir -p $$(@D)
	$$(Q)$(3) $$(INIT_WARNINGS) $$(FUZZ_FLAGS) $$(FUZZ_OWN) $(4) -c $$< -o $$@
FUZZ_OBJECTS_$(1) := $$(filter-out %/plan.o,$$(FUZZ_NAMES:%=build/fuzz/$(2)/init/%)) build/fuzz/$(1)/init/plan.o
$$(eval $$(call fuzz_variant,$(1),$(3),$(4),$(5),$(6)))
endef
$(eval $(call planted_variant,planted,clang,$(FUZZ_CC),$(FUZZ_FEEDBACK),-fsanitize=fuzzer,$(FUZZ_MUTATOR:$(FUZZ_DIR)/%.c=%.o)))
$(eval $(call planted_variant,planted-gcc,gcc,$(INIT_CC),$(FUZZ_SANITIZERS),,replay.o))

# What `vitest --project native` replays (test/native/fuzz-corpus.test.ts).
native-test-tools: build/fuzz/gcc/run build/fuzz/planted-gcc/run

# TypeScript that reaches the host module by its name.
build/fuzz/seeds.mjs: $(FUZZ_DIR)/seeds.ts $(TS_SOURCES) $(wildcard test/support/*.ts)
	@mkdir -p $(@D)
	$(Q)node_modules/.bin/esbuild $< --bundle --platform=node --format=esm --log-level=warning \
		--alias:runt:host=./test/support/node-host.ts --outfile=$@

# The corpus of the repository, and the seeds of this tree.
.PHONY: fuzz-cases
fuzz-cases: build/fuzz/seeds.mjs
	$(Q)$(TSX) $(FUZZ_DIR)/pack.ts unpack $(FUZZ_DIR)/corpus.pack build/fuzz/corpus
	$(Q)node build/fuzz/seeds.mjs build/fuzz/corpus

.PHONY: setup-fuzz
setup-fuzz:
	@tools/setup.sh fuzz

# RUNS executions by JOBS processes; what is found is left in build/fuzz, with the command that repeats it.
RUNS ?= 10000000
JOBS ?= 2
.PHONY: fuzz-init
fuzz-init: setup-fuzz build/fuzz/clang/run fuzz-cases
	$(FUZZ_DIR)/fuzz.sh build/fuzz/clang/run $(RUNS) $(JOBS) build/fuzz/corpus

# The planted bug must be found within a minute, by one process that begins with the seeds alone.
.PHONY: fuzz-planted
fuzz-planted: setup-fuzz build/fuzz/planted/run build/fuzz/seeds.mjs
	$(FUZZ_DIR)/planted.sh build/fuzz/planted/run

# The cases that reach something no smaller one reaches, into the repository.
.PHONY: fuzz-corpus
fuzz-corpus: setup-fuzz build/fuzz/clang/run fuzz-cases
	$(FUZZ_DIR)/minimise.sh build/fuzz/clang/run
	$(Q)$(TSX) $(FUZZ_DIR)/pack.ts pack $(FUZZ_DIR)/corpus.pack build/fuzz/minimised

# Lines and branches of the helper that the corpus reaches.
.PHONY: fuzz-coverage
fuzz-coverage: setup-fuzz build/fuzz/coverage/run
	$(FUZZ_DIR)/coverage.sh build/fuzz/coverage/run

# The parsers of the host module. What their files need of QuickJS beside is never called, and stays unresolved.
FUZZ_HOST_SOURCES := $(sort $(wildcard $(FUZZ_DIR)/host/*.c))
FUZZ_HOST_FLAGS := -std=gnu17 -D_GNU_SOURCE -Wall -Wextra -Werror -g -O1 -fno-omit-frame-pointer -fno-sanitize-recover=all -fno-pie -no-pie \
	-isystem $(B)/quickjs/include -I$(GEN) -Wl,--unresolved-symbols=ignore-all $(FUZZ_SANITIZERS)
FUZZ_HOST_NEEDS := $(FUZZ_HOST_SOURCES) $(FUZZ_DIR)/host/parsers.h $(PROGRAM_SOURCES) $(wildcard native-bindings/host/*.h native-bindings/twins/*.h) $(PROTOCOL_HEADERS)

build/fuzz/host/run: $(FUZZ_HOST_NEEDS) | $(B)/quickjs/version
	@mkdir -p $(@D)
	@echo "  link $@"
	$(Q)$(FUZZ_CC) $(FUZZ_HOST_FLAGS) -fsanitize=fuzzer $(FUZZ_HOST_SOURCES) -o $@

build/fuzz/host-gcc/run: $(FUZZ_HOST_NEEDS) $(FUZZ_DIR)/replay.c $(FUZZ_DIR)/case.c | $(B)/quickjs/version
	@mkdir -p $(@D)
	@echo "  link $@"
	$(Q)$(INIT_CC) $(FUZZ_HOST_FLAGS) $(FUZZ_HOST_SOURCES) $(FUZZ_DIR)/replay.c $(FUZZ_DIR)/case.c -o $@

native-test-tools: build/fuzz/host-gcc/run

.PHONY: fuzz-host
fuzz-host: setup-fuzz build/fuzz/host/run
	$(Q)$(TSX) $(FUZZ_DIR)/pack.ts unpack $(FUZZ_DIR)/host/corpus.pack build/fuzz/host/corpus
	$(FUZZ_DIR)/fuzz.sh build/fuzz/host/run $(RUNS) $(JOBS) build/fuzz/host/corpus
