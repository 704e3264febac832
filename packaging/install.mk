# Manual pages, installation, Debian package. Included by the Makefile.

SHARE := $(DESTDIR)$(PREFIX)/share
# Where the shells look by themselves below PREFIX/share. Debian keeps /usr/share/zsh/site-functions for the administrator.
ZSH_COMPLETIONS ?= zsh/site-functions
COMPLETION_FILES = bash=bash-completion/completions/runt zsh=$(ZSH_COMPLETIONS)/_runt fish=fish/vendor_completions.d/runt.fish
INSTALLED = $(DESTDIR)$(PREFIX)/bin/runt $(SHARE)/man/man8/runt.8 $(SHARE)/man/man8/runt-*.8 \
	$(foreach file,$(COMPLETION_FILES),$(SHARE)/$(lastword $(subst =, ,$(file)))) \
	$(foreach file,LICENSE NOTICE runt.spdx.json third-party/*.txt,$(SHARE)/doc/runt/$(file))

# The pages of man/ from the command table; `make lint` says when they are not current.
.PHONY: man
man: | $(SETUP)
	$(TSX) tools/gen-man.ts

.PHONY: install
install: bin/runt $(B)/runt.spdx.json
	install -D -m 0755 bin/runt $(DESTDIR)$(PREFIX)/bin/runt
	install -d $(SHARE)/man/man8
	install -m 0644 man/*.8 $(SHARE)/man/man8
	install -d $(SHARE)/doc/runt/third-party
	install -m 0644 LICENSE NOTICE $(B)/runt.spdx.json $(SHARE)/doc/runt
	install -m 0644 $(B)/third-party/*.txt $(SHARE)/doc/runt/third-party
	@set -e; for file in $(COMPLETION_FILES); do \
		bin/runt completion "$${file%%=*}" > $(B)/completion.new; \
		echo "install -D -m 0644 (completion of $${file%%=*}) $(SHARE)/$${file#*=}"; \
		install -D -m 0644 $(B)/completion.new "$(SHARE)/$${file#*=}"; rm $(B)/completion.new; \
	done

# Takes away the files of `make install` with the same PREFIX and DESTDIR; directories stay, for others use them too.
.PHONY: uninstall
uninstall:
	rm -f $(INSTALLED)

# build/runt_VERSION_ARCHITECTURE.deb: the same bytes from the same commit.
.PHONY: deb
deb: bin/runt $(B)/runt.spdx.json
	packaging/deb.sh $(B)
