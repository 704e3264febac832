# The helper `runt-init`: freestanding and static; and the same sources hosted, under the sanitizers, for the tests.
# Included by the top Makefile, which makes build/gen/protocol. Targets: build/runt-init, and native-test-tools for test/native.

INIT_DIR := native-bindings/init
INIT_SOURCES := $(wildcard $(INIT_DIR)/*.c) $(SHARED_SOURCES)
INIT_HEADERS := $(wildcard $(INIT_DIR)/*.h native-bindings/testing/*.h) $(SHARED_HEADERS) $(PROTOCOL_HEADERS)
INIT_OBJECTS := $(addprefix build/init/,$(sort $(notdir $(INIT_SOURCES:.c=.o))))
# Not $(CC): the top Makefile's musl-gcc hides the kernel headers, and the helper needs no libc at all.
INIT_CC ?= $(TOOL)gcc
INIT_MACHINE := $(firstword $(subst -, ,$(shell $(INIT_CC) -dumpmachine)))
INIT_WARNINGS := -std=c11 -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes
# docs/decisions/0028-hardening.md. Without a libc the guard of the stack is no thread-local variable (self.c).
INIT_HARDENING := -fstack-protector-strong $(if $(filter x86_64,$(INIT_MACHINE)),-mstack-protector-guard=global)
# Calls of libgcc for atomics would need a libc; and pages of arm64 have 4, 16 or 64 KiB, as the kernel was built.
INIT_ATOMICS := $(if $(filter aarch64,$(INIT_MACHINE)),-mno-outline-atomics)
INIT_PAGE := $(if $(filter aarch64,$(INIT_MACHINE)),65536,4096)
INIT_CFLAGS := $(INIT_WARNINGS) $(INIT_ATOMICS) -Os -ffreestanding -fPIE $(INIT_HARDENING) -fno-ident -fno-unwind-tables -fno-asynchronous-unwind-tables \
	-ffunction-sections -fdata-sections -fno-tree-loop-distribute-patterns -Ibuild/gen -I$(INIT_DIR)
INIT_LDFLAGS := -nostdlib -static-pie -Wl,--gc-sections,--build-id=none,--hash-style=sysv,-z,noexecstack,-z,relro,-z,now,-z,max-page-size=$(INIT_PAGE),-z,common-page-size=$(INIT_PAGE)

build/init/%.o: $(INIT_DIR)/%.c $(INIT_HEADERS) $(INIT_DIR)/build.mk
	@mkdir -p $(@D)
	$(INIT_CC) $(INIT_CFLAGS) -c $< -o $@

build/init/%.o: native-bindings/shared/%.c $(INIT_HEADERS) $(INIT_DIR)/build.mk
	@mkdir -p $(@D)
	$(INIT_CC) $(INIT_CFLAGS) -c $< -o $@

build/runt-init: $(INIT_OBJECTS)
	LC_ALL=C $(INIT_CC) $(INIT_LDFLAGS) -Wl,-Map=build/runt-init.map $^ -o $@
	$(TOOL)strip -s $@

SANITIZED := $(INIT_WARNINGS) -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -DRUNT_HOSTED \
	-Ibuild/gen -I$(INIT_DIR)

build/test/runt-init-asan: $(INIT_SOURCES) $(INIT_HEADERS)
	@mkdir -p $(@D)
	$(INIT_CC) $(SANITIZED) $(INIT_SOURCES) -o $@

build/test/decode: test/native/decode.c $(INIT_DIR)/plan.c native-bindings/shared/str.c $(addprefix $(INIT_DIR)/,start.c syscall.c) $(INIT_HEADERS)
	@mkdir -p $(@D)
	$(INIT_CC) $(SANITIZED) $(filter %.c,$^) -o $@

NATIVE_TOOLS := build/test/drive build/test/watch build/test/terminal build/test/announce
$(NATIVE_TOOLS): build/test/%: test/native/%.c $(PROTOCOL_HEADERS)
	@mkdir -p $(@D)
	$(INIT_CC) -std=gnu11 -Wall -Wextra -Werror -O1 -Ibuild/gen $< -o $@

build/test/overflow: test/native/overflow.c $(addprefix $(INIT_DIR)/,self.c start.c syscall.c) native-bindings/shared/str.c $(INIT_HEADERS) $(INIT_DIR)/build.mk
	@mkdir -p $(@D)
	$(INIT_CC) $(INIT_CFLAGS) $(INIT_LDFLAGS) $(filter %.c,$^) -o $@

# What `vitest --project native` runs, beside the build/test/refuse of the top Makefile.
.PHONY: native-test-tools
native-test-tools: build/runt-init build/test/runt-init-asan build/test/decode build/test/overflow $(NATIVE_TOOLS)
