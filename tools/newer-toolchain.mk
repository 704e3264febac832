# Every C file that a build or a test compiles, by the compiler of the next Debian with the musl, the glibc and the kernel headers of that Debian,
# with the flags of the build: Debian 12 has GCC 12 and musl 1.2.3, Debian 13 GCC 14 and musl 1.2.5. Part of `make lint` where the tree is there.
# Left out: what clang compiles for `make fuzz-init`. Included by the top Makefile.

NEWER := $(B)/newer
NEWER_SUITE := trixie
NEWER_TREE := $(NEWER)/tree

# Nothing but `make test` and `make newer-toolchain` fetches it. Without it the check is skipped, and that is said.
.PHONY: newer-tree
newer-tree: | $(SETUP)
	@tools/debian-tree.sh $(NEWER_SUITE) $(NEWER_TREE) cpp-14 libgcc-14-dev musl-dev libc6-dev linux-libc-dev >$(B)/newer-tree.log 2>&1 || \
		echo "the compiler of Debian 13 cannot be had ($(B)/newer-tree.log)" >&2

$(NEWER)/kernel-headers:
	@mkdir -p $@
	$(Q)for name in linux asm-generic; do ln -sfn "$(CURDIR)/$(NEWER_TREE)/usr/include/$$name" $@/$$name; done
	$(Q)ln -sfn "$(CURDIR)/$(NEWER_TREE)/usr/include/$$(cc -print-multiarch)/asm" $@/asm

of_newer = $(subst $(B)/kernel-headers,$(NEWER)/kernel-headers,$(1))
names_of = $(patsubst %.c,$(NEWER)/%.checked,$(wildcard $(1)))

NEWER_HOST := $(call names_of,native-bindings/program/*.c native-bindings/host/*.c native-bindings/twins/*.c native-bindings/client/*.c \
	tools/bytecode.c)
NEWER_TESTING := $(call names_of,native-bindings/testing/testing.c native-bindings/testing/host_points.c)
NEWER_SMALL := $(call names_of,native-bindings/pause/*.c tools/text-order/*.c test/support/*.c bench/*.c)
NEWER_PROBES := $(call names_of,test/probe/*.c test/native/host/*.c)
NEWER_HELPER := $(call names_of,native-bindings/init/*.c native-bindings/shared/*.c)
NEWER_TESTING_HELPER := $(call names_of,native-bindings/testing/points.c)
NEWER_TOOLS := $(call names_of,test/native/*.c test/guard/*.c)
NEWER_ALL := $(NEWER_HOST) $(NEWER_TESTING) $(NEWER_SMALL) $(NEWER_PROBES) $(NEWER_HELPER) $(NEWER_TESTING_HELPER) $(NEWER_TOOLS)

$(NEWER_HOST): LIBRARY_AND_FLAGS = musl $(HOST_CFLAGS)
$(NEWER_TESTING): LIBRARY_AND_FLAGS = musl $(HOST_CFLAGS) -DRUNT_TESTING
$(NEWER_SMALL): LIBRARY_AND_FLAGS = musl $(CFLAGS) -idirafter $(B)/kernel-headers
$(NEWER_PROBES): LIBRARY_AND_FLAGS = musl -O2 -Wall -Wextra -Werror -idirafter $(B)/kernel-headers
$(NEWER_HELPER): LIBRARY_AND_FLAGS = glibc $(INIT_CFLAGS)
$(NEWER_TESTING_HELPER): LIBRARY_AND_FLAGS = glibc $(INIT_CFLAGS) -DRUNT_TESTING -DRUNT_TESTING_HELPER
$(NEWER_TOOLS): LIBRARY_AND_FLAGS = glibc -std=gnu11 -O1 -Wall -Wextra -Werror -I$(GEN) -I$(INIT_DIR)

$(NEWER_ALL): $(NEWER)/%.checked: %.c tools/newer-cc.sh $(wildcard native-bindings/*/*.h bench/*.h) $(PROTOCOL_HEADERS) \
		$(B)/quickjs/version $(B)/libseccomp/version | $(NEWER)/kernel-headers $(GEN)/build.h
	@mkdir -p $(@D)
	$(Q)tools/newer-cc.sh $(NEWER_TREE) $(call of_newer,$(LIBRARY_AND_FLAGS)) $<
	@touch $@

.PHONY: newer-toolchain
newer-toolchain: $(NEWER_ALL)
