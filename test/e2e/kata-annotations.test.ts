/** What Kata Containers' conversion of config.json (docs/kata-annotations.md) does, as far as it takes a kernel or the command line: K1, K5 and so on. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import type { Config } from "../support/config.ts";
import { call, isRoot, isRunt, RUNTIME, useHarness } from "../support/harness.ts";
import { useKataRows } from "../support/kata-rows.ts";

const SETS = ["bounding", "effective", "permitted", "inheritable", "ambient"];

describe.skipIf(!isRoot || !isRunt)("rows of Kata Containers", () => {
  const harness = useHarness();
  const { bundle, directory, id, ok, root, runtime, until } = harness;
  const { findings, output, printing, started, stateOf, staying } = useKataRows(harness);

  test("K1: validate names the missing section", async () => {
    const path = bundle((config) => Reflect.deleteProperty(config, "linux"));
    expect(await findings(path)).toContain("linux-missing /linux");
  });

  test("K5, K33: the words of the states, and what each allows", async () => {
    const valid = new Ajv2020({ strict: false }).compile(JSON.parse(await ok(["schema", "state"])));
    const name = id();
    const refused: Readonly<Record<string, readonly string[]>> = {
      created: ["resume"],
      running: ["start", "delete", "resume"],
      paused: ["start", "delete", "pause"],
      stopped: ["start", "pause", "resume", "kill"],
    };
    async function expectStatus(status: string): Promise<void> {
      await until(name, status);
      for (const verb of refused[status]!) {
        expect((await runtime([verb, name])).status, `${verb} of ${status}`).not.toBe(0);
        const state = await stateOf(name);
        expect(state.status).toBe(status);
        expect([valid(state), valid.errors]).toEqual([true, null]);
      }
    }
    await ok(["create", "-b", staying(), name]);
    await expectStatus("created");
    await ok(["start", name]);
    await expectStatus("running");
    await ok(["pause", name]);
    await expectStatus("paused");
    await ok(["resume", name]);
    await expectStatus("running");
    await ok(["kill", name, "KILL"]);
    await expectStatus("stopped");
  });

  test("K6, K19, K20: capabilities as a list are those of an object, and none are none", async () => {
    const status = (value: unknown) =>
      output(
        printing("grep -E 'Cap|NoNewPrivs' /proc/self/status", (config) => {
          config.process.capabilities = value as Config["process"]["capabilities"];
          config.process.user = { uid: 1, gid: 1 };
        }),
      );
    const list = ["CAP_KILL", "CAP_NET_RAW"];
    const asList = await status(list);
    expect(asList).toBe(await status(Object.fromEntries(SETS.map((set) => [set, list]))));
    // What is ambient is kept by a user who is not root.
    expect(asList).toMatch(/^CapEff:\s+0{12}2020$/m);
    const none = await status(undefined);
    expect(none.match(/^Cap\w+:\s+0{16}$/gm)).toHaveLength(5);
  });

  test("K7: an unknown field is a warning of validate, and nothing to create", async () => {
    const path = printing("echo fine", (config) => void Object.assign(config, { x: 1 }));
    expect(await findings(path)).toContain("field-unknown /x");
    expect(await output(path)).toBe("fine\n");
  });

  test("K9: the state directory is the flag's, then the environment's, then the usual one", async () => {
    const rootOf = async (command: readonly string[], env: Record<string, string>) => {
      const { stdout } = await call(directory, [...command, "check", "-f", "json"], { env: { USER: "", ...env } });
      return JSON.parse(stdout).caller.stateRoot;
    };
    const plan = await call(directory, [RUNTIME, "--root", "/a/./b/", "plan", "-b", bundle(), "c"], { env: { XDG_RUNTIME_DIR: "/x" } });
    expect(plan.stdout).toContain(" state.intent");
    expect(plan.stdout).toContain(" /a/b/c");
    expect(await rootOf(["unshare", "--map-root-user", RUNTIME], { XDG_RUNTIME_DIR: "/x" })).toBe("/x/runt");
    expect(await rootOf([RUNTIME], { XDG_RUNTIME_DIR: "/x" })).toBe("/run/runt");
  });

  test("K11: a failure is one line of JSON in the log, with its level, words, time, code and place", async () => {
    const log = join(directory, "k11.json");
    const path = bundle((config) => void Object.assign(config.process, { cwd: "relative" }));
    expect((await runtime(["--log", log, "--log-format", "json", "create", "-b", path, id()])).status).toBe(1);
    const lines = readFileSync(log, "utf8").trimEnd().split("\n");
    expect(lines).toHaveLength(1);
    const line = JSON.parse(lines[0]!);
    expect(Object.keys(line).slice(0, 5)).toEqual(["level", "msg", "time", "code", "pointer"]);
    expect(line).toMatchObject({ level: "error", pointer: "/process/cwd" });
  });

  test("K12: values with = in them arrive whole", async () => {
    const path = bundle((config) => {
      config.process.args = ["/bin/cat", "/proc/self/environ"];
      config.process.env.push("A=b=c=d", "E=", "F==");
    });
    expect((await output(path)).split("\0")).toEqual(expect.arrayContaining(["A=b=c=d", "E=", "F=="]));
  });

  test.each([["ro"], ["nosuid"], ["nodev"], ["noexec"], ["noatime"], ["nodiratime"], ["relatime"], ["nosymfollow"]])(
    "K13: the option %s is the flag in mountinfo",
    async (word) => {
      const mount = (options: string[]) =>
        printing("grep ' /mnt ' /proc/self/mountinfo", (config) =>
          config.mounts.push({ destination: "/mnt", type: "tmpfs", source: "tmpfs", options }),
        );
      const flags = (line: string) => line.split(" ")[5]!.split(",");
      expect(flags(await output(mount([word])))).toContain(word);
    },
  );

  test("K13: rro reaches what is mounted below a bind, data reaches the filesystem", async () => {
    const path = printing("grep -E ' /mnt| /opt ' /proc/self/mountinfo", (config) =>
      config.mounts.push(
        { destination: "/mnt", type: "bind", source: "/proc", options: ["rbind", "rro"] },
        { destination: "/opt", type: "tmpfs", source: "tmpfs", options: ["size=64k", "mode=711"] },
      ),
    );
    const lines = (await output(path)).trimEnd().split("\n");
    for (const line of lines.filter((text) => text.includes(" /mnt"))) expect(line.split(" ")[5]).toMatch(/^ro/);
    expect(lines.at(-1)).toMatch(/size=64k.*mode=711/);
  });

  test("K14: mounts come in their order: a, and then a/b on it", async () => {
    const tmpfs = (destination: string) => ({ destination, type: "tmpfs", source: "tmpfs" });
    const shown = (order: string[]) =>
      output(printing("awk '$5 ~ /^.mnt/ { print $5 }' /proc/self/mountinfo", (config) => config.mounts.push(...order.map(tmpfs))));
    expect(await shown(["/mnt", "/mnt/b"])).toBe("/mnt\n/mnt/b\n");
    // The second covers the first.
    expect(await shown(["/mnt", "/mnt"])).toBe("/mnt\n/mnt\n");
  });

  test("K16: nodes of every type, with owner and mode; others are refused", async () => {
    const nodes = [
      { type: "c", path: "/dev/k-c", major: 1, minor: 5, fileMode: 0o640, uid: 3, gid: 4 },
      { type: "u", path: "/dev/k-u", major: 1, minor: 7 },
      { type: "b", path: "/dev/k-b", major: 7, minor: 9, fileMode: 0o600 },
      { type: "p", path: "/dev/k-p", fileMode: 0o622, uid: 1, gid: 2 },
    ];
    const list = printing(`stat -c '%n %F %t:%T %a %u:%g' ${nodes.map(({ path }) => path).join(" ")}`, (config) => {
      config.linux["devices"] = nodes;
    });
    expect((await output(list)).trimEnd().split("\n")).toEqual([
      "/dev/k-c character special file 1:5 640 3:4",
      "/dev/k-u character special file 1:7 666 0:0",
      "/dev/k-b block special file 7:9 600 0:0",
      "/dev/k-p fifo 0:0 622 1:2",
    ]);
    for (const [type, path, words] of [
      ["x", "/dev/x", '"/dev/x" has the unknown type "x"'],
      ["c", "../../x", '"../../x" is not an absolute path'],
      ["c", "", '"" is not an absolute path'],
    ]) {
      const name = id();
      const bad = bundle((config) => void Object.assign(config.linux, { devices: [{ type, path, major: 1, minor: 3 }] }));
      const { status, stderr } = await runtime(["create", "-b", bad, name]);
      expect([status, stderr]).toEqual([1, expect.stringContaining(words!)]);
      expect(existsSync(join(root, name))).toBe(false);
    }
  });

  test("K21: create does without a process, start says what is missing", async () => {
    const name = id();
    await ok(["create", "-b", bundle((config) => Reflect.deleteProperty(config, "process")), name]);
    const log = join(directory, "k21.json");
    expect((await runtime(["--log", log, "--log-format", "json", "start", name])).status).toBe(1);
    expect(JSON.parse(readFileSync(log, "utf8"))).toMatchObject({ level: "error", msg: expect.stringContaining("process") });
    expect((await stateOf(name)).status).toBe("created");
  });

  test("K23: a bundle by its relative path; a file is none", async () => {
    const path = printing("echo relative");
    const name = id();
    expect(await ok(["run", "-b", basename(path), name], { cwd: dirname(path) })).toBe("relative\n");
    const { status, stderr } = await runtime(["run", "-b", join(path, "config.json"), id()]);
    expect([status, stderr]).toEqual([1, expect.stringContaining("not a directory")]);
  });

  test("K24: what is wrong with the text is told with line and column, by create and by validate", async () => {
    const path = bundle();
    writeFileSync(join(path, "config.json"), '{\n "ociVersion": "1.0.0",\n "root": }');
    expect((await runtime(["create", "-b", path, id()])).stderr).toContain(":3:10: ");
    expect((await runtime(["validate", "-b", path])).stdout).toMatch(/^error\[config-syntax\] \S+config\.json:3:10$/m);
  });

  test.each([
    ["A=x y ", "A=x y "],
    ["A= x", "A= x"],
    ["A='x'", "A='x'"],
    ['A="x=y"', 'A="x=y"'],
    ["A=", "A="],
  ])("K34: exec --env '%s' is the entry as it stands", async (entry, expected) => {
    const { name } = await started(staying());
    const environment = await ok(["exec", "--env", entry, name, "/bin/cat", "/proc/self/environ"]);
    expect(environment.split("\0")).toContain(expected);
  });

  test("K34: without a name or without = it is an error that says so", async () => {
    const { name } = await started(staying());
    expect((await runtime(["exec", "--env", "A", name, "/bin/true"])).stderr).toContain('"A" has no "="');
    expect((await runtime(["exec", "--env", "=x", name, "/bin/true"])).stderr).toContain('"=x" has no name');
  });

  test("K35: a damaged record is a typed error, and delete --force still works", async () => {
    const { name, pid } = await started(staying(), ["--cgroup-manager", "disabled"]);
    writeFileSync(join(root, name, "state.json"), '{"schema":1');
    const log = join(directory, "k35.json");
    expect((await runtime(["--log", log, "--log-format", "json", "state", name])).status).toBe(1);
    expect(JSON.parse(readFileSync(log, "utf8"))).toMatchObject({ code: "state-unreadable" });
    // Nobody knows any longer which process it was.
    process.kill(pid, "SIGKILL");
    await ok(["delete", "--force", name]);
    expect(existsSync(join(root, name))).toBe(false);
  });
});
