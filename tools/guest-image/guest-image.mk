# The guest of --isolation vm: $(B)/vm/image. Debian's cloud kernel is fetched once; the rest is this tree's bin/runt.
VM := $(B)/vm

$(VM)/kernel/release: tools/guest-image/kernel.sh tools/debian-apt.sh
	@tools/setup.sh vm
	$(Q)tools/guest-image/kernel.sh bookworm $(VM)/kernel
	@touch $@

.PHONY: guest-image
guest-image: bin/runt $(VM)/kernel/release
	$(Q)$(TSX) tools/guest-image/main.ts $(VM)/kernel $(VM)/image
	$(Q)printf '{ "image": "%s" }\n' '$(CURDIR)/$(VM)/image' >$(VM)/vm.json

# A container in a machine: hello, a second process, a limit. Emulated by software, so half a minute.
.PHONY: demo-vm
demo-vm: guest-image
	bundles/demo-vm.sh

# Engines with runt-vm as their runtime: containerd with all that is told of machines, Podman and Docker with what has "run" in its name, pods of
# containerd with what they share, and in each of them a container that is killed for lack of memory. A quarter of an hour.
.PHONY: test-engines-vm
test-engines-vm: guest-image
	@tools/setup.sh engines
	$(TSX) test/engines/main.ts --engines ctr --runtimes runt-vm
	$(TSX) test/engines/main.ts --engines podman,docker --runtimes runt-vm --only run
	$(TSX) test/engines/main.ts --engines podman,docker,cri --runtimes runt-vm --only 'out of memory'
	set -e; for part in 'two containers' 'pod: ' 'unknown command'; do \
		$(TSX) test/engines/main.ts --engines cri --runtimes runt-vm --only "$$part"; \
	done

# Containers in machines, and pods of the task engine: a quarter of an hour on an idle machine.
.PHONY: test-vm
test-vm: setup-test guest-image library $(TEST_TOOLS)
	RUNT_TEST_VM=yes RUNT_TEST_SLOW=4 $(B)/test/plain node_modules/.bin/vitest run --project e2e test/e2e/vm
	RUNT_TEST_VM=yes RUNT_TEST_SLOW=4 $(B)/test/plain node_modules/.bin/vitest run --project engine test/engine/vm

# Each kind of process of a pod in a machine killed at 50 moments: most of an hour on an idle machine. VM_KILLS=20 VM_SEED=7 for others.
.PHONY: test-vm-long
test-vm-long: setup-test guest-image $(TEST_TOOLS)
	RUNT_TEST_VM=yes RUNT_TEST_SLOW=4 RUNT_VM_KILLS=$(or $(VM_KILLS),50) RUNT_VM_SEED=$(or $(VM_SEED),1) \
		$(B)/test/plain node_modules/.bin/vitest run --project e2e test/e2e/vm-kills.test.ts
