# Every attack of test/security against runt, runt with disabled defences, crun and runc, and those on the engine
# against Podman and Docker, where these are installed: as root, some minutes. ATTACKS='--only 2019-5736'
# for a part, ATTACKS=--write for the table in docs/security.md.
.PHONY: test-security
test-security: setup-test bin/runt $(B)/testing/runt $(TEST_TOOLS)
	$(TSX) test/security/main.ts $(ATTACKS)
