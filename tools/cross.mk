# The programs for arm64, built on x86-64 with Debian's cross compiler: build/arm64/bin. What has to run on that machine while it is built (the compiler of
# bytecode, the writer of the engine's image) runs under qemu-user, so the result is what a build on such a machine has. On arm64 itself: `make`.
# Included by the top Makefile.

ARM64 := $(B)/arm64

.PHONY: arm64
arm64: $(B)/quickjs/version $(B)/libseccomp/version | $(SETUP)
	@tools/setup.sh cross
	@tools/cross-tree.sh $(ARM64) aarch64-linux-gnu arm64
	$(Q)$(MAKE) --no-print-directory -C $(ARM64) TARGET=aarch64-linux-gnu bin/runt bin/runtctl bin/runt-pause

# For the tests, which skip what cannot be had: a missing compiler, emulator or libc is no failure, all else is. make runs a recipe that calls make even when
# it only prints what it would do (-n), and then nothing is to be made.
.PHONY: arm64-optional
arm64-optional: bin/runt | $(SETUP)
	@case "$${MAKEFLAGS%% *}" in --*) ;; *n*) exit 0 ;; esac; \
	if [ "$$(uname -m)" != x86_64 ] || ! { tools/setup.sh cross && tools/cross-tree.sh $(ARM64) aarch64-linux-gnu arm64; } >$(B)/arm64.log 2>&1; then \
		echo "the programs for arm64 cannot be built here ($(B)/arm64.log)" >&2; \
	else $(MAKE) --no-print-directory arm64; fi

# What stands beside them in a release: bill of materials, licence texts, relink kit.
.PHONY: arm64-supply
arm64-supply: arm64
	$(Q)$(MAKE) --no-print-directory -C $(ARM64) TARGET=aarch64-linux-gnu sbom relink-kit
