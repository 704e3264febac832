# Programs of the benchmarks: static, so that they run in another file system, too.
BENCH_TOOLS := $(patsubst %,$(B)/bench/%,pair crowd steps floor)
$(BENCH_TOOLS): $(B)/bench/%: bench/%.c bench/spawn.h bench/bench.mk | $(B)/kernel-headers
	@mkdir -p $(@D)
	@echo "  cc $<"
	$(Q)$(CC) $(CFLAGS) -idirafter $(B)/kernel-headers -static $< -o $@

.PHONY: bench-tools
bench-tools: $(BENCH_TOOLS)

# Twenty minutes of an idle machine, as root: on cgroup v2, then on the hierarchies that the host has. BENCH='--only run,exec --rounds 10' for a
# part, BENCH=--write for docs/performance.md and docs/performance/v1.md (bench/main.ts).
.PHONY: bench bench-sid
bench: setup-test bin/runt $(BENCH_TOOLS)
	$(TSX) bench/main.ts --unified $(BENCH)
	$(TSX) bench/main.ts $(BENCH)

# On cgroup v2, beside the crun of this machine and the newest one.
.PHONY: bench-v2
bench-v2: setup-test bin/runt $(BENCH_TOOLS)
	$(TSX) bench/main.ts --unified $(BENCH)
	$(SID_TREE)
	$(TSX) bench/main.ts --unified --tree $(B)/sid $(BENCH)

# The newest crun and runc of Debian, in a tree of their own with all they need.
SID_TREE := tools/debian-tree.sh sid $(B)/sid crun runc coreutils findutils dash grep sed util-linux mount strace libstdc++6 libatomic1
bench-sid: setup-test bin/runt $(BENCH_TOOLS)
	$(SID_TREE)
	$(TSX) bench/main.ts --tree $(B)/sid $(BENCH)

# The task engine without network and images: some minutes of an idle machine, as root. BENCH='--flat 0' for a part (bench/engine.ts).
.PHONY: bench-engine
bench-engine: setup-test library
	$(TSX) bench/engine.ts $(BENCH)

# The client as it is installed beside the one on Node, in turns: two minutes of an idle machine, as root (bench/client.ts).
.PHONY: bench-client
bench-client: setup-test library
	$(TSX) bench/client.ts $(BENCH)

# A pod until it is ready, beside `podman kube play` of the newest Podman of Debian: ten minutes of an idle machine, as root (bench/pod.ts).
PODMAN_TREE := tools/debian-tree.sh sid $(B)/podman podman crun conmon catatonit netavark aardvark-dns nftables iptables coreutils
.PHONY: bench-pod
bench-pod: setup-test bin/runt library
	$(PODMAN_TREE)
	$(TSX) bench/pod.ts --tree $(B)/podman $(BENCH)

# A group of ten containers up and down, beside the same Podman and beside Compose on the newest docker.io of Debian: some minutes of an idle machine, as
# root. BENCH='--only docker' for a part, BENCH=--machine for the podman and the dockerd of this machine (bench/engine-group.ts).
DOCKER_TREE := tools/debian-tree.sh sid $(B)/docker docker.io docker-cli docker-compose runc nftables iptables coreutils
.PHONY: bench-engine-group
bench-engine-group: setup-test bin/runt library
	$(PODMAN_TREE)
	$(DOCKER_TREE)
	$(TSX) bench/engine-group.ts --podman $(B)/podman --docker $(B)/docker $(BENCH)

# A container of a pool: every target beside what was reached (bench/pool.ts); as root, some minutes of an idle machine.
.PHONY: bench-pool
bench-pool: setup-test library bin/runt
	$(TSX) bench/pool.ts $(BENCH)

# A machine of --isolation vm beside the emptiest one: some minutes of an idle machine, as root (bench/vm.ts).
.PHONY: bench-vm
bench-vm: setup-test guest-image
	$(TSX) bench/vm.ts $(BENCH)
