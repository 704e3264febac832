# Manual pages, installation, Debian package. Included by the Makefile.

SHARE := $(DESTDIR)$(PREFIX)/share
# Where the shells look by themselves below PREFIX/share.
ZSH_COMPLETIONS ?= zsh/site-functions
COMPLETION_FILES = bash=bash-completion/completions/runt zsh=$(ZSH_COMPLETIONS)/_runt fish=fish/vendor_completions.d/runt.fish
# The daemon of tasks with what it needs besides Node, and its client.
PROGRAMS := runtd runtctl
LIBDIR := $(PREFIX)/lib/runt
UNITDIR ?= $(PREFIX)/lib/systemd/system
UNITS := runtd.service runtd.socket
CLIENT_COMPLETIONS = bash=bash-completion/completions/runtctl zsh=$(ZSH_COMPLETIONS)/_runtctl fish=fish/vendor_completions.d/runtctl.fish
# Started by runtd for a task whose containers share namespaces, and by nobody else.
HOLDER := $(PREFIX)/libexec/runt/runt-pause
# The bills of materials (packaging/supply.mk).
BILLS := $(foreach name,runt runtd,$(B)/$(name).spdx.json $(B)/$(name).cdx.json)
# Where bin/ and build/ of the programs are that are installed, and for which machine, as Node names it: `make release` packs those of build/arm64 on x86-64.
BUILT ?= .
BUILT_FOR ?=
INSTALLED = $(DESTDIR)$(PREFIX)/bin/runt $(PROGRAMS:%=$(DESTDIR)$(PREFIX)/bin/%) $(DESTDIR)$(HOLDER) $(UNITS:%=$(DESTDIR)$(UNITDIR)/%) \
	$(SHARE)/man/man8/runt.8 $(SHARE)/man/man8/runt-*.8 $(SHARE)/man/man8/runtd.8 $(SHARE)/man/man1/runtctl.1 $(SHARE)/man/man5/runt*.5 \
	$(foreach file,$(CLIENT_COMPLETIONS),$(SHARE)/$(lastword $(subst =, ,$(file)))) \
	$(foreach file,$(COMPLETION_FILES),$(SHARE)/$(lastword $(subst =, ,$(file)))) \
	$(foreach file,LICENSE NOTICE $(notdir $(BILLS)) third-party/*.txt,$(SHARE)/doc/runt/$(file))

# The pages of man/ from the command tables and the schemas of the files; `make lint` says when they are not current.
.PHONY: man
man: | $(SETUP)
	$(TSX) tools/gen-man.ts

.PHONY: install
install: bin/runt bin/runt-pause bin/runtctl $(BILLS) dist/executor/index.js
	install -D -m 0755 $(BUILT)/bin/runt $(DESTDIR)$(PREFIX)/bin/runt
	install -D -m 0755 $(BUILT)/bin/runt-pause $(DESTDIR)$(HOLDER)
	install -D -m 0755 $(BUILT)/bin/runtctl $(DESTDIR)$(PREFIX)/bin/runtctl
	install -d $(foreach section,1 5 8,$(SHARE)/man/man$(section)) $(DESTDIR)$(UNITDIR)
	set -e; for section in 1 5 8; do install -m 0644 man/*.$$section $(SHARE)/man/man$$section; done
	$(TSX) tools/install-programs.ts $(DESTDIR)$(LIBDIR) $(BUILT_FOR)
	install -d $(DESTDIR)$(LIBDIR)/bin
	ln -s ../../../bin/runt $(DESTDIR)$(LIBDIR)/bin/runt
	ln -s ../../../libexec/runt/runt-pause $(DESTDIR)$(LIBDIR)/bin/runt-pause
	install -m 0755 packaging/launcher.sh $(DESTDIR)$(PREFIX)/bin/runtd
	@set -e; for unit in $(UNITS); do \
		echo "install -m 0644 packaging/$$unit $(DESTDIR)$(UNITDIR)/$$unit"; \
		sed "s|@BINDIR@|$(PREFIX)/bin|" "packaging/$$unit" > "$(DESTDIR)$(UNITDIR)/$$unit"; \
	done
	@set -e; for file in $(CLIENT_COMPLETIONS); do \
		text=$$(bin/runtctl completion "$${file%%=*}"); \
		echo "install -D -m 0644 (completion of runtctl for $${file%%=*}) $(SHARE)/$${file#*=}"; \
		printf '%s\n' "$$text" | install -D -m 0644 /dev/stdin "$(SHARE)/$${file#*=}"; \
	done
	install -d $(SHARE)/doc/runt/third-party
	install -m 0644 LICENSE NOTICE $(BILLS:%=$(BUILT)/%) $(SHARE)/doc/runt
	install -m 0644 $(BUILT)/$(B)/third-party/*.txt $(SHARE)/doc/runt/third-party
	@set -e; for file in $(COMPLETION_FILES); do \
		text=$$(bin/runt completion "$${file%%=*}"); \
		echo "install -D -m 0644 (completion of $${file%%=*}) $(SHARE)/$${file#*=}"; \
		printf '%s\n' "$$text" | install -D -m 0644 /dev/stdin "$(SHARE)/$${file#*=}"; \
	done

# Takes away the files of `make install` with the same PREFIX and DESTDIR; directories stay, for others use them too.
.PHONY: uninstall
uninstall:
	rm -f $(INSTALLED)
	rm -rf $(DESTDIR)$(LIBDIR)

# build/runt_VERSION_ARCHITECTURE.deb and build/runtd_VERSION_ARCHITECTURE.deb: the same bytes from the same commit.
.PHONY: deb
deb: bin/runt bin/runt-pause bin/runtctl $(BILLS) dist/executor/index.js
	packaging/deb.sh $(B)
