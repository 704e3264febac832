/** --log and --log-format: exactly one line on failure, nothing on success, the same words on stderr. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { call, isRoot, isRunt, RUNTIME, shell, useHarness } from "../support/harness.ts";

describe.skipIf(!isRoot)("the log (needs root)", () => {
  const { bundle, directory, id, root, runtime } = useHarness();
  const failing = () => bundle((config) => Object.assign(config.process, { args: ["absent-program"] }));
  const content = (path: string) => (existsSync(path) ? readFileSync(path, "utf8") : "");

  test("--log-format json is one JSON value with level, msg and time", async () => {
    const log = join(directory, "log.json");
    const result = await runtime(["--log", log, "--log-format", "json", "create", "-b", failing(), id()]);
    expect(result.status).toBe(1);
    const text = content(log).trimEnd();
    const last = JSON.parse(text.split("\n").at(-1) ?? "");
    expect(last.level).toBe("error");
    expect(last.msg).toContain("executable file not found in $PATH");
    expect(Number.isNaN(Date.parse(last.time))).toBe(false);
    expect(result.stderr).toContain("executable file not found in $PATH");
    if (isRunt) {
      expect(text.split("\n")).toHaveLength(1);
      expect(Object.keys(last)).toEqual(["level", "msg", "time", "code", "pointer"]);
      expect(last).toMatchObject({ code: "operation", pointer: "/process/args/0" });
    }
  });

  test("the text format has the same words", async () => {
    const log = join(directory, "log.txt");
    await runtime(["--log", log, "create", "-b", failing(), id()]);
    expect(content(log)).toMatch(/level=error msg=".*executable file not found in \$PATH/);
  });

  test("success is silent", async () => {
    const log = join(directory, "quiet.json");
    const result = await runtime(["--log", log, "--log-format=json", "run", "-b", bundle((config) => shell(config, "true")), id()]);
    expect(result).toEqual({ status: 0, stdout: "", stderr: "" });
    expect(content(log)).toBe("");
  });

  describe.skipIf(!isRunt)("capabilities that cannot be granted are warnings", () => {
    const sets = {
      bounding: ["CAP_KILL", "CAP_NOBODY"],
      permitted: ["CAP_KILL"],
      inheritable: ["CAP_KILL"],
      ambient: ["CAP_KILL", "CAP_CHOWN"],
    };
    const warned = (program = "true") =>
      bundle((config) => {
        config.process["capabilities"] = { ...sets, effective: ["CAP_NOBODY"] };
        config.process.args = [program];
      });
    const UNKNOWN = 'capability "CAP_NOBODY" is not known and is left out';
    const AMBIENT = /can't raise ambient capability CAP_CHOWN: /;

    test("on stderr, once each, for run, create and exec", async () => {
      for (const verb of ["run", "create"]) {
        const { status, stderr } = await runtime([verb, "-b", warned(), id()]);
        expect([status, stderr.trimEnd().split("\n")]).toEqual([
          0,
          [expect.stringMatching(/^warning: /), expect.stringMatching(/^warning: /)],
        ]);
        expect(stderr).toContain(UNKNOWN);
        expect(stderr).toMatch(AMBIENT);
      }
      const name = id();
      await runtime(["run", "-d", "-b", bundle((config) => shell(config, "sleep 1000")), name]);
      const document = join(directory, "process.json");
      writeFileSync(document, JSON.stringify({ cwd: "/", args: ["true"], env: ["PATH=/bin"], capabilities: sets }));
      const { status, stderr } = await runtime(["exec", "-p", document, name]);
      expect([status, stderr]).toEqual([0, expect.stringContaining(UNKNOWN)]);
      expect(stderr).toMatch(AMBIENT);
    });

    test("with the names of those that the caller does not hold", async () => {
      const path = bundle((config) => {
        const names = ["CAP_KILL", "CAP_NET_RAW"];
        config.process["capabilities"] = { bounding: names, permitted: ["CAP_KILL"], effective: names };
        shell(config, "true");
      });
      const command = ["setpriv", "--bounding-set", "-net_raw", "--inh-caps", "-net_raw", RUNTIME, "--root", root, "run", "-b", path, id()];
      const { status, stderr } = await call(directory, command);
      expect([status, stderr.split("\n")]).toEqual([
        0,
        [
          "warning: capabilities left out of the effective set: CAP_NET_RAW",
          "warning: capabilities left out of the bounding set: CAP_NET_RAW",
          "",
        ],
      ]);
    });

    test("in the log instead; in a JSON log only when warnings are asked for", async () => {
      const text = join(directory, "warnings.txt");
      expect((await runtime(["--log", text, "run", "-b", warned(), id()])).stderr).toBe("");
      expect(content(text)).toMatch(/^time="[^"]+" level=warning msg="capability \\"CAP_NOBODY\\" is not known/m);
      const quiet = join(directory, "quiet-warnings.json");
      expect((await runtime(["--log", quiet, "--log-format", "json", "run", "-b", warned(), id()])).stderr).toBe("");
      expect(content(quiet)).toBe("");
      const json = join(directory, "warnings.json");
      await runtime(["--log", json, "--log-format", "json", "--log-level", "warning", "run", "-b", warned(), id()]);
      const lines = content(json)
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line));
      expect(lines.map(({ level }) => level)).toEqual(["warning", "warning"]);
      expect(lines.map(({ msg }) => msg)).toContain(UNKNOWN);
      expect((await runtime(["--log-level", "error", "run", "-b", warned(), id()])).stderr).toBe("");
    });

    test("and a failure stays one line", async () => {
      const log = join(directory, "failure.json");
      const { status, stderr } = await runtime(["--log", log, "--log-format", "json", "create", "-b", warned("absent-program"), id()]);
      expect([status, content(log).trimEnd().split("\n").length, stderr.trimEnd().split("\n").length]).toEqual([1, 1, 1]);
      expect(JSON.parse(content(log)).level).toBe("error");
    });
  });

  describe.skipIf(!isRunt)("--debug tells the steps", () => {
    const filtered = () =>
      bundle((config) => {
        const syscalls = [{ names: ["no_such_call", "acct"], action: "SCMP_ACT_ERRNO" }];
        config.linux["seccomp"] = {
          defaultAction: "SCMP_ACT_ALLOW",
          flags: ["SECCOMP_FILTER_FLAG_TSYNC", "SECCOMP_FILTER_FLAG_LOG"],
          syscalls,
        };
        shell(config, "echo private words");
      });

    test.each([["run"], ["create"]])("of %s, on stderr", async (verb) => {
      const { status, stderr } = await runtime(["--debug", verb, "-b", filtered(), id()]);
      expect(status).toBe(0);
      expect(stderr).toMatch(/^time="[^"]+" level=debug msg="phase config"$/m);
      expect(stderr).toMatch(/^time="[^"]+" level=debug msg="runtime: state\.intent .*"$/m);
      expect(stderr).toMatch(/^time="[^"]+" level=debug msg="init: root\.pivot"$/m);
      // What runc says at these points.
      for (const words of ["nsexec container setup: the helper", "child process in init()", "seccomp filter flags: 2"])
        expect(stderr).toContain(` level=debug msg="${words}"\n`);
      expect(stderr).toContain(' level=debug msg="init: closing the pipe to signal completion"\n');
      expect(stderr).toMatch(/^warning: linux\.seccomp: unknown system calls are ignored: no_such_call$/m);
      expect(stderr).not.toContain("private words");
    });

    test("of exec, and into the log instead, as text and JSON", async () => {
      const name = id();
      await runtime(["run", "-d", "-b", bundle((config) => shell(config, "sleep 1000")), name]);
      const [text, json] = [join(directory, "debug.txt"), join(directory, "debug.json")];
      expect((await runtime(["--debug", "--log", text, "exec", name, "true"])).stderr).toBe("");
      expect(content(text)).toMatch(/level=debug msg="intermediate: namespace\.enter /);
      for (const words of ["nsexec container setup: the helper", "child process in init()", "setns_init: about to exec"])
        expect(content(text)).toContain(` level=debug msg="${words}"\n`);
      const affine = join(directory, "affine.json");
      writeFileSync(affine, JSON.stringify({ args: ["true"], cwd: "/", execCPUAffinity: { initial: "0-1,33" } }));
      expect((await runtime(["--debug", "exec", "--process", affine, name])).stderr).toContain(' msg="nsexec: affinity: 0x200000003"\n');
      await runtime(["--debug", "--log", json, "--log-format", "json", "exec", name, "true"]);
      const levels = content(json)
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line).level);
      expect(new Set(levels)).toEqual(new Set(["debug"]));
    });

    test("and of nothing else: what is merged with stderr stays readable", async () => {
      const name = id();
      await runtime(["create", "-b", bundle(), name]);
      for (const verb of ["state", "ps", "list", "features"])
        expect((await runtime(["--debug", verb, ...(verb === "state" || verb === "ps" ? [name] : [])])).stderr).toBe("");
    });

    test("the error is the last line", async () => {
      const log = join(directory, "debug-failure.json");
      const { status } = await runtime(["--debug", "--log", log, "--log-format", "json", "create", "-b", failing(), id()]);
      expect([status, JSON.parse(content(log).trimEnd().split("\n").at(-1) ?? "").level]).toEqual([1, "error"]);
    });
  });

  test("a log that cannot be opened is an error", async () => {
    const result = await runtime(["--log", join(directory, "absent/log"), "list"]);
    expect(result.status).toBe(1);
    expect(result.stderr).toContain("absent/log");
  });
});
