# The site of the documentation: build/site/html (docs/development.md). Included by the Makefile.

SITE_SETUP := site/node_modules/.package-lock.json
$(SITE_SETUP): site/package-lock.json
	npm ci --prefix site
	@touch $@

# SITE_BASE=/runt/ for a site that is not at the root of its host.
.PHONY: site
site: $(SITE_SETUP) | $(SETUP)
	$(TSX) tools/site.ts

# Shows it at http://127.0.0.1:4173.
.PHONY: site-preview
site-preview: site
	site/node_modules/.bin/vitepress preview site --host 127.0.0.1 --port 4173

# In headless Chromium: some minutes.
.PHONY: test-site
test-site: site
	@tools/setup.sh site
	node_modules/.bin/tsc -p site
	node_modules/.bin/vitest run --project site
