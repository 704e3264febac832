# The host's side of a machine's channel under the sanitizers (test/fuzz-channel/README.md). Included by the top Makefile after test/fuzz-init/fuzz.mk.

CHANNEL_DIR := test/fuzz-channel
CHANNEL_OUT := build/fuzz/channel
CHANNEL_SOURCES := $(wildcard $(CHANNEL_DIR)/*.ts test/support/channel/*.ts src/runtime/isolation/channel/*.ts)
# The engine of the program, as tools/quickjs.sh has patched it. It counts on signed numbers that wrap, and calls functions by other types.
CHANNEL_ENGINE := $(addprefix $(CHANNEL_OUT)/engine/,quickjs.o libregexp.o libunicode.o cutils.o dtoa.o)
CHANNEL_FLAGS := -g -O2 -fno-omit-frame-pointer -fwrapv -fno-sanitize-recover=all $(FUZZ_SANITIZERS)

$(CHANNEL_OUT)/engine/%.o: $(B)/quickjs/version
	@mkdir -p $(@D)
	@echo "  cc $*.c (sanitizers)"
	$(Q)$(FUZZ_CC) $(CHANNEL_FLAGS) -D_GNU_SOURCE -DCONFIG_VERSION='"fuzzed"' -w -c $(B)/quickjs/work/changed/$*.c -o $@

$(CHANNEL_OUT)/run: $(CHANNEL_DIR)/target.c $(CHANNEL_ENGINE) $(wildcard native-bindings/host/*.[ch]) $(PROTOCOL_HEADERS)
	@echo "  link $@"
	$(Q)$(FUZZ_CC) -std=gnu17 -D_GNU_SOURCE -Wall -Wextra -Werror $(CHANNEL_FLAGS) -fno-pie -no-pie -isystem $(B)/quickjs/include -I$(GEN) \
		-Wl,--unresolved-symbols=ignore-all -fsanitize=fuzzer $< $(CHANNEL_ENGINE) -lm -o $@

$(CHANNEL_OUT)/subject.js: $(CHANNEL_SOURCES) | $(SETUP)
	@mkdir -p $(@D)
	$(Q)$(TSX) $(CHANNEL_DIR)/bundle.ts $@

# Both packs of the repository, and the made up sessions of this tree.
.PHONY: fuzz-channel-cases
fuzz-channel-cases: | $(SETUP)
	$(Q)mkdir -p $(CHANNEL_OUT) && gzip -dc $(CHANNEL_DIR)/corpus.pack.gz $(CHANNEL_DIR)/recorded.pack.gz > $(CHANNEL_OUT)/packs
	$(Q)$(TSX) $(FUZZ_DIR)/pack.ts unpack $(CHANNEL_OUT)/packs $(CHANNEL_OUT)/corpus
	$(Q)$(TSX) $(CHANNEL_DIR)/seeds.ts $(CHANNEL_OUT)/corpus

# For SECONDS by one process; then what the corpus reaches of the channel's lines.
.PHONY: fuzz-channel
fuzz-channel: setup-fuzz $(CHANNEL_OUT)/run $(CHANNEL_OUT)/subject.js fuzz-channel-cases
	$(CHANNEL_DIR)/fuzz.sh $(CHANNEL_OUT)/run $(or $(SECONDS),1800) $(CHANNEL_OUT)/corpus

# Each check of the host's side taken out, one at a time.
.PHONY: fuzz-channel-mutants
fuzz-channel-mutants: setup-fuzz $(CHANNEL_OUT)/run fuzz-channel-cases
	$(CHANNEL_DIR)/mutants.sh $(CHANNEL_OUT)/run $(CHANNEL_OUT)/corpus

# The cases that reach something no smaller one reaches, into the repository: some are of 64 KiB, nearly all zeros.
.PHONY: fuzz-channel-corpus
fuzz-channel-corpus: setup-fuzz $(CHANNEL_OUT)/run $(CHANNEL_OUT)/subject.js fuzz-channel-cases
	$(Q)rm -rf $(CHANNEL_OUT)/minimised && mkdir -p $(CHANNEL_OUT)/minimised
	$(Q)RUNT_CHANNEL=$(CHANNEL_OUT)/subject.js $(CHANNEL_OUT)/run -merge=1 -max_len=131072 $(CHANNEL_OUT)/minimised $(CHANNEL_OUT)/corpus
	$(Q)$(TSX) $(FUZZ_DIR)/pack.ts pack $(CHANNEL_OUT)/corpus.pack $(CHANNEL_OUT)/minimised
	$(Q)gzip -9nc $(CHANNEL_OUT)/corpus.pack > $(CHANNEL_DIR)/corpus.pack.gz

# Sessions of machines that run, into the repository as they are: as root.
.PHONY: fuzz-channel-record
fuzz-channel-record: guest-image
	$(Q)$(TSX) $(CHANNEL_DIR)/record.ts $(CHANNEL_OUT)/recorded
	$(Q)$(TSX) $(FUZZ_DIR)/pack.ts pack $(CHANNEL_OUT)/recorded.pack $(CHANNEL_OUT)/recorded
	$(Q)gzip -9nc $(CHANNEL_OUT)/recorded.pack > $(CHANNEL_DIR)/recorded.pack.gz
