/** System call filters: what the program sees, and the notification listener. */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, existsSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { Config } from "../support/config.ts";
import { isRoot, isRunt, useHarness } from "../support/harness.ts";
import { program } from "../support/programs.ts";
import { allowBut, ENGINE, ERRNO, filtered, MKDIR, type Profile, rule } from "../support/seccomp-profiles.ts";

describe.skipIf(!isRoot)("seccomp (needs root)", () => {
  const { bundle, directory, id, ok, root, runtime, until } = useHarness();
  const run = (change: (config: Config) => void) => runtime(["run", "-b", bundle(change), id()]);

  test.each([
    ["with no_new_privs", true, 0],
    ["without no_new_privs", false, 0],
    ["without no_new_privs, another user", false, 1000],
  ])("a profile as engines have it: %s", async (_, noNewPrivileges, uid) => {
    const command = "grep -E '^(Seccomp|NoNewPrivs|CapPrm|CapEff)' /proc/self/status";
    const result = await run((config) => {
      filtered(ENGINE, command)(config);
      config.process.noNewPrivileges = noNewPrivileges;
      config.process.user = { uid, gid: uid };
      config.process.capabilities = { bounding: ["CAP_KILL"], permitted: ["CAP_KILL"], effective: ["CAP_KILL"] };
    });
    const capabilities = uid === 0 ? "0000000000000020" : "0000000000000000";
    expect(result.stdout.replaceAll(/:\s+/g, "=").split("\n")).toEqual(
      expect.arrayContaining(["Seccomp=2", `NoNewPrivs=${Number(noNewPrivileges)}`, `CapPrm=${capabilities}`, `CapEff=${capabilities}`]),
    );
    expect(result.stderr).toBe("");
  });

  test("a waiting init has no right beyond its program's", async () => {
    const name = id();
    const pidFile = join(directory, name);
    const path = bundle((config) => {
      filtered(ENGINE, "true")(config);
      config.process.noNewPrivileges = false;
      config.process.capabilities = { bounding: ["CAP_KILL"], permitted: ["CAP_KILL"], effective: ["CAP_KILL"] };
    });
    await ok(["create", "--pid-file", pidFile, "-b", path, name]);
    const status = readFileSync(`/proc/${readFileSync(pidFile, "utf8")}/status`, "utf8");
    expect(status).toMatch(/CapPrm:\s+0000000000000020\nCapEff:\s+0000000000000020/);
    expect(status).toMatch(/Seccomp:\s+2/);
  });

  test.each([5, 28, 38] as const)("two profiles that differ in one errnoRet alone give their own: %d", async (errnoRet) => {
    const profile = allowBut(rule("ERRNO", MKDIR, { errnoRet }));
    for (let round = 0; round < 2; round++) expect((await run(filtered(profile, "mkdir /tmp/x"))).stderr).toContain(ERRNO[errnoRet]);
  });

  test("ERRNO is EPERM unless the profile says otherwise, also as the default", async () => {
    expect((await run(filtered(allowBut(rule("ERRNO", MKDIR)), "mkdir /tmp/x"))).stderr).toContain("Operation not permitted");
    const rest = ENGINE.syscalls!.map((entry) => ({ ...entry, names: entry.names.filter((name) => !MKDIR.includes(name)) }));
    const profile = { ...ENGINE, syscalls: rest.filter(({ names }) => names.length > 0), defaultErrnoRet: 28 };
    expect((await run(filtered(profile, "mkdir /tmp/x"))).stderr).toContain(ERRNO[28]);
  });

  test.each(["KILL", "KILL_THREAD", "KILL_PROCESS", "TRAP"])("%s ends the program with SIGSYS", async (action) => {
    const result = await run((config) => {
      filtered(allowBut(rule(action, MKDIR)))(config);
      config.process.args = ["/bin/mkdir", "/tmp/x"];
    });
    expect(result.status).toBe(128 + 31);
  });

  test("LOG lets the call through, TRACE without a tracer gives ENOSYS", async () => {
    expect((await run(filtered(allowBut(rule("LOG", MKDIR)), "mkdir /dev/shm/x"))).status).toBe(0);
    expect((await run(filtered(allowBut(rule("TRACE", MKDIR)), "mkdir /tmp/x"))).stderr).toContain(ERRNO[38]);
  });

  test("arguments are compared in 64 bits, by every operator", async () => {
    const HIGH = 1n << 63n;
    // x86-64: 39 is getpid, which takes no notice of its arguments.
    const matches = async (argument: bigint, op: string, value: bigint, valueTwo = 0n) => {
      const args = [{ index: 0, value: "@value", valueTwo: "@valueTwo", op: `SCMP_CMP_${op}` }];
      const path = bundle((config) => {
        filtered(allowBut(rule("ERRNO", ["getpid"], { errnoRet: 28, args })))(config);
        config.process.args = ["/probe", "--syscall", `39:${argument}`];
      });
      const file = join(path, "config.json");
      // JSON.stringify has no numbers of 64 bits.
      writeFileSync(file, readFileSync(file, "utf8").replace('"@value"', String(value)).replace('"@valueTwo"', String(valueTwo)));
      return (await ok(["run", "-b", path, id()])).includes(`syscall 39:${argument}: 28`);
    };
    expect(await matches(HIGH + 1n, "EQ", HIGH + 1n)).toBe(true);
    expect(await matches(HIGH, "EQ", HIGH + 1n)).toBe(false);
    expect(await matches(HIGH, "NE", HIGH + 1n)).toBe(true);
    expect(await matches(HIGH, "LT", HIGH)).toBe(false);
    expect(await matches(HIGH - 1n, "LT", HIGH)).toBe(true);
    expect(await matches(HIGH, "LE", HIGH)).toBe(true);
    expect(await matches(HIGH + 1n, "LE", HIGH)).toBe(false);
    expect(await matches(HIGH, "GE", HIGH)).toBe(true);
    expect(await matches(HIGH - 1n, "GE", HIGH)).toBe(false);
    expect(await matches(HIGH, "GT", HIGH)).toBe(false);
    expect(await matches((1n << 64n) - 1n, "GT", HIGH)).toBe(true);
    expect(await matches(HIGH + 23n, "MASKED_EQ", HIGH + 16n, HIGH + 16n)).toBe(true);
    expect(await matches(23n, "MASKED_EQ", HIGH + 16n, HIGH + 16n)).toBe(false);
  });

  test("several comparisons of one argument are alternatives, of different ones hold together", async () => {
    const compare = (index: number, value: number) => ({ index, value, op: "SCMP_CMP_EQ" });
    const kill = async (...args: readonly object[]) =>
      (await run(filtered(allowBut(rule("ERRNO", ["kill"], { errnoRet: 28, args })), "kill -23 $$ 2>&1; true"))).stdout;
    expect(await kill(compare(1, 23), compare(1, 17))).toContain(ERRNO[28]);
    expect(await kill(compare(1, 23), compare(0, 1))).toContain(ERRNO[28]);
    expect(await kill(compare(1, 23), compare(0, 2))).toBe("");
  });

  test.skipIf(!isRunt)("a filter that forbids what init itself does", async () => {
    const forbidden = ["sendmsg", "read", "close", "capset", "capget", "prctl", "umask", "getcwd", "chdir", "setresuid", "rt_sigaction"];
    const name = id();
    const path = bundle((config) => {
      filtered(allowBut(rule("KILL_PROCESS", forbidden)))(config);
      config.process.noNewPrivileges = false;
      config.process.args = ["/probe", "--version"];
    });
    const before = await run((config) => {
      filtered(allowBut(rule("ERRNO", ["getcwd"])), "echo started")(config);
    });
    expect(before.stdout).toBe("started\n");
    await ok(["create", "-b", path, name]);
    await ok(["start", name]);
  });

  test("a system call newer than the profile gives ENOSYS, an older one the default", async () => {
    // x86-64: personality is 135, and the profile ends before 600.
    const profile = { ...ENGINE, syscalls: ENGINE.syscalls!.filter(({ names }) => !names.includes("personality")), defaultErrnoRet: 28 };
    const { stdout } = await run((config) => {
      filtered(profile)(config);
      config.process.args = ["/probe", "--syscall", "135", "--syscall", "600"];
    });
    expect(stdout.match(/^syscall.*/gm)).toEqual(["syscall 135: 28", "syscall 600: 38"]);
  });

  test.skipIf(!isRunt)("unknown system calls are a named warning in the state, from the cache too", async () => {
    const profile = allowBut(rule("ERRNO", ["nosuchcall", "mkdir", "no such call", ""]));
    for (let round = 0; round < 2; round++) {
      const name = id();
      await ok(["create", "-b", bundle(filtered(profile, "true")), name]);
      const { warnings } = JSON.parse(readFileSync(join(root, name, "state.json"), "utf8"));
      expect(warnings).toEqual(
        expect.arrayContaining([
          'linux.seccomp: unknown system calls are ignored: "no such call"',
          "linux.seccomp: unknown system calls are ignored: nosuchcall, ",
        ]),
      );
    }
  });

  test.skipIf(!isRunt).each(["nosuchcall", "no such call"])("and an error with run.oci.seccomp_fail_unknown_syscall: %s", async (call) => {
    const profile = allowBut(rule("ERRNO", [call, "mkdir"]));
    const annotated = (value: string) => (config: Config) => {
      filtered(profile, "true")(config);
      config["annotations"] = { "run.oci.seccomp_fail_unknown_syscall": value };
    };
    // The second time the filter is in the cache.
    for (let round = 0; round < 2; round++) {
      const { status, stderr } = await run(annotated("1"));
      expect([status, stderr]).toEqual([1, expect.stringMatching(/unknown system calls: "?no ?such ?call"?/)]);
    }
    expect((await run(annotated("0"))).status).toBe(0);
  });

  test.skipIf(!isRunt)("errors name the field", async () => {
    const refused = async (profile: Profile) => (await run(filtered(profile, "true"))).stderr;
    expect(await refused({ defaultAction: "SCMP_ACT_NONE" })).toContain('unknown action "SCMP_ACT_NONE"');
    expect(await refused({ ...ENGINE, architectures: ["SCMP_ARCH_VAX"] })).toContain('architectures: unknown name "SCMP_ARCH_VAX"');
    expect(await refused({ ...ENGINE, architectures: ["SCMP_ARCH_S390X"] })).toContain(
      "architectures: SCMP_ARCH_S390X is big-endian and cannot share a filter",
    );
    expect(await refused({ ...ENGINE, flags: ["FLAG"] })).toContain('flags: unknown name "FLAG"');
    expect(await refused(allowBut(rule("ALLOW", ["mkdir"], { errnoRet: 1 })))).toContain("SCMP_ACT_ALLOW has no errnoRet");
  });

  // runc of Debian 12 knows none.
  test.skipIf(!isRunt).each([[["LOG"]], [["TSYNC", "SPEC_ALLOW", "LOG", "WAIT_KILLABLE_RECV"]], [[]]])("flags %j", async (names) => {
    const flags = names.map((name) => `SECCOMP_FILTER_FLAG_${name}`);
    expect((await run(filtered({ ...ENGINE, flags }, "grep Seccomp: /proc/self/status"))).stdout).toMatch(/Seccomp:\s+2/);
  });

  describe("exec", () => {
    test("a further process has the container's filter", async () => {
      const name = id();
      await ok(["run", "-d", "-b", bundle(filtered(allowBut(rule("ERRNO", MKDIR, { errnoRet: 28 })), "exec sleep 60")), name]);
      expect((await runtime(["exec", name, "mkdir", "/tmp/x"])).stderr).toContain(ERRNO[28]);
      expect(await ok(["exec", name, "grep", "Seccomp:", "/proc/self/status"])).toMatch(/Seccomp:\s+2/);
    });
  });

  describe("notify", () => {
    const socket = join(directory, "agent.sock");
    const log = join(directory, "agent.log");
    let agent: ChildProcess | undefined;
    const states = () =>
      readFileSync(log, "utf8")
        .split("\n")
        .filter((line) => line.startsWith("fds="))
        .map((line) => line.match(/^fds=(\d+) (.*)$/) ?? [])
        .map(([, fds, text]) => ({ fds, state: JSON.parse(text ?? "") }));
    const listening = (rest: object = {}): Profile => ({
      ...allowBut(rule("NOTIFY", MKDIR)),
      listenerPath: socket,
      listenerMetadata: "some data",
      ...rest,
    });

    async function startAgent(): Promise<void> {
      if (agent) return;
      const out = openSync(log, "w");
      agent = spawn(program("seccomp-agent"), [socket], { stdio: ["ignore", out, "inherit"] });
      closeSync(out);
      await expect.poll(() => readFileSync(log, "utf8")).toContain("listening");
    }
    afterAll(() => void agent?.kill("SIGKILL"));

    test("the agent gets the state and the descriptor, and decides", async () => {
      await startAgent();
      const name = id();
      const path = bundle(filtered(listening(), "mkdir /tmp/x; exec sleep 60"));
      await ok(["run", "-d", "-b", path, name]);
      await until(name, "running");
      const { pid } = JSON.parse(await ok(["state", name]));
      const { fds, state } = states().at(-1)!;
      expect(fds).toBe("1");
      expect(state).toMatchObject({ fds: ["seccompFd"], metadata: "some data", state: { id: name, bundle: path, status: "creating" } });
      expect(state.pid).toBe(pid);
      expect(state.state.pid).toBe(pid);
      // runc of Debian 12 hangs here.
      if (!isRunt) return;
      expect((await runtime(["exec", name, "mkdir", "/tmp/x"])).stderr).toContain("uota exceeded");
      expect(states().at(-1)!.state.pid).not.toBe(pid);
    });

    test.skipIf(!isRunt)("nobody listens, or nobody could", async () => {
      const refused = async (profile: Profile) => (await run(filtered(profile, "true"))).stderr;
      expect(await refused(listening({ listenerPath: join(directory, "absent") }))).toContain("absent");
      expect(await refused(listening({ listenerPath: "" }))).toContain("listenerMetadata: useless without listenerPath");
      expect(await refused(listening({ listenerPath: "", listenerMetadata: "" }))).toContain("SCMP_ACT_NOTIFY needs listenerPath");
      expect(await refused({ defaultAction: "SCMP_ACT_NOTIFY", listenerPath: socket })).toContain("defaultAction: SCMP_ACT_NOTIFY");
      expect(await refused({ ...listening(), syscalls: [rule("NOTIFY", ["sendmsg"])] })).toContain("needs sendmsg");
    });

    test("listenerPath counts only where something notifies", async () => {
      const profile = { ...ENGINE, listenerPath: join(directory, "absent") };
      expect((await run(filtered(profile, "true"))).status).toBe(0);
    });
  });

  const DENY = { defaultAction: "SCMP_ACT_ERRNO" };
  const allowed = (...names: readonly string[]) => ({ ...DENY, syscalls: [rule("ALLOW", names)] });
  test.skipIf(!isRunt).each<[string, Profile]>([
    ["ERRNO for all", DENY],
    ["an end is allowed alone", allowed("exit", "exit_group")],
    ["a report without an end", allowed("write", "close")],
    ["a report and an end", allowed("write", "close", "read", "exit", "exit_group")],
    ["KILL_PROCESS for all", { defaultAction: "SCMP_ACT_KILL_PROCESS" }],
    ["KILL for all", { defaultAction: "SCMP_ACT_KILL" }],
    ["TRAP for all", { defaultAction: "SCMP_ACT_TRAP" }],
    ["ERRNO for execve", allowBut(rule("ERRNO", ["execve"]))],
    ["an errno of 0 for execve", allowBut(rule("ERRNO", ["execve"], { errnoRet: 0 }))],
    ["KILL_PROCESS for execve", allowBut(rule("KILL_PROCESS", ["execve"]))],
    ["TRAP for execve", allowBut(rule("TRAP", ["execve"]))],
  ])("start and run say that a program could not begin: %s", async (_, profile) => {
    const hook = join(directory, "poststart");
    const path = bundle((config) => {
      filtered(profile, "echo began")(config);
      Object.assign(config, { hooks: { poststart: [{ path: "/bin/touch", args: ["touch", hook] }] } });
    });
    const name = id();
    await ok(["create", "-b", path, name]);
    expect(await runtime(["start", name])).toMatchObject({
      status: 1,
      stdout: "",
      stderr: expect.stringContaining("unable to start container process"),
    });
    await until(name, "stopped");
    expect(existsSync(hook)).toBe(false);
    expect(await run(filtered(profile, "echo began"))).toMatchObject({ status: 1, stdout: "" });
  });

  test("a program that has begun is a success however soon it ends", async () => {
    // The last one allows nothing but to begin: the program dies of its first call.
    for (const profile of [ENGINE, allowBut(), allowed("execve")])
      for (let round = 0; round < 10; round++) {
        const name = id();
        await ok(["create", "-b", bundle(filtered(profile, "exit 3")), name]);
        await ok(["start", name]);
      }
  });
});
