# Programs of the benchmarks: static, so that they run in another file system, too.
BENCH_TOOLS := $(patsubst %,$(B)/bench/%,pair crowd steps floor)
$(BENCH_TOOLS): $(B)/bench/%: bench/%.c bench/spawn.h bench/bench.mk | $(B)/kernel-headers
	@mkdir -p $(@D)
	@echo "  cc $<"
	$(Q)$(CC) $(CFLAGS) -idirafter $(B)/kernel-headers -static $< -o $@

.PHONY: bench-tools
bench-tools: $(BENCH_TOOLS)

# Ten minutes of an idle machine, as root. BENCH='--only run,exec --rounds 10' for a part, BENCH=--write for docs/performance.md (bench/main.ts).
.PHONY: bench bench-sid
bench: setup-test bin/runt $(BENCH_TOOLS)
	$(TSX) bench/main.ts $(BENCH)

# The newest crun and runc of Debian, in a tree of their own with all they need.
bench-sid: setup-test bin/runt $(BENCH_TOOLS)
	tools/debian-tree.sh sid $(B)/sid crun runc coreutils findutils dash grep sed util-linux mount strace libstdc++6 libatomic1
	$(TSX) bench/main.ts --tree $(B)/sid $(BENCH)
