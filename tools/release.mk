# A release: build/release. Included by the top Makefile.

RELEASE := $(B)/release

# Everything that is published, for x86-64 and arm64 (RELEASING.md). On x86-64, in a clone without changes.
.PHONY: release
release: release-needs npm
	packaging/release.sh $(RELEASE) . $(ARM64)

.PHONY: release-needs
release-needs: | $(SETUP)
	@[ "$$(uname -m)" = x86_64 ] || { echo "release: make it on x86-64: from there the programs of arm64 can be built, too" >&2; exit 1; }
	@tools/setup.sh release

# Its files, their two builds from the sources, and their packages on a fresh Debian 12 and 13: as root, up to an hour.
.PHONY: test-release
test-release: release
	@tools/setup.sh hosts
	node_modules/.bin/vitest run --project supply test/supply/release.test.ts
	tools/reproducible.sh release
	node_modules/.bin/vitest run --project hosts test/hosts/packages.test.ts
