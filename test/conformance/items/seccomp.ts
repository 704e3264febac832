import { Agent } from "../agent.ts";
import * as assert from "../assert.ts";
import { answerOf } from "../filters.ts";
import { group } from "../group.ts";
import {
  type Argument,
  allowBut,
  called,
  denying,
  ENGINE,
  ENOSPC,
  enospc,
  expectAnswers,
  filtered,
  loaded,
  NUMBER,
  OWN_TOKEN,
  RETURN,
  type Rule,
  rule,
} from "../seccomp.ts";
import { withTool } from "../tools.ts";
import { listenerItems } from "./seccomp-listener.ts";
import { nameItems } from "./seccomp-names.ts";

const ENOSYS = "38";
const EPERM = "1";
const SIGSYS = 31;
/** A number that no kernel has, nor any profile. */
const UNKNOWN_CALL = 999;
const compare = (op: string, value: number | bigint, index = 0, valueTwo?: number | bigint): Argument => ({
  index,
  op: `SCMP_CMP_${op}`,
  value,
  ...(valueTwo !== undefined && { valueTwo }),
});

export const seccomp = group("SEC", "seccomp", (levels) => {
  const { must, should } = levels;
  must(1, "a profile has a default action, which must exist", async (c) => {
    await c.refused(filtered({ syscalls: [rule("ERRNO", ["mkdir"])] }), "/linux/seccomp/defaultAction");
    await c.refused(filtered({ defaultAction: "", syscalls: [rule("ERRNO", ["mkdir"])] }), "/linux/seccomp/defaultAction");
    for (const defaultAction of ["ALLOW", "SCMP_ACT_NONE", "scmp_act_allow"])
      await c.refused(filtered({ defaultAction }), "/linux/seccomp/defaultAction");
    assert.equal((await loaded(c, { defaultAction: "SCMP_ACT_LOG" })).length, 1);
  });
  must(2, "nine actions work as named; others are refused", async (c) => {
    const { getpid, getppid } = NUMBER;
    const dies = async (action: string, ...flags: readonly string[]) =>
      called(c, allowBut(rule(action, ["getegid"])), ...flags, String(getppid), String(NUMBER.getegid));
    for (const action of ["KILL", "KILL_THREAD", "KILL_PROCESS"]) {
      const { status, stdout } = await dies(action, "--trap");
      assert.deepEqual([status, stdout], [128 + SIGSYS, `${getppid}: 0\n`], action);
    }
    for (const action of ["KILL", "KILL_THREAD"]) {
      const { status, stdout } = await dies(action, "--thread");
      assert.deepEqual([status, stdout], [0, `${getppid}: 0\nalive\n`], action);
    }
    assert.equal((await dies("KILL_PROCESS", "--thread")).status, 128 + SIGSYS);
    const trapped = await dies("TRAP", "--trap");
    assert.match(trapped.stdout, new RegExp(`^${NUMBER.getegid}: trap \\d+$`, "m"), trapped.stderr);
    assert.equal((await dies("TRAP")).status, 128 + SIGSYS);
    await expectAnswers(c, allowBut(enospc("getpid"), rule("TRACE", ["getppid"]), rule("LOG", ["getuid"])), {
      [getpid]: ENOSPC,
      // Nobody traces.
      [getppid]: ENOSYS,
      [NUMBER.getuid]: "0",
      [NUMBER.getgid]: "0",
    });
    await expectAnswers(c, denying(["getpid"], { defaultErrnoRet: 28 }), { [getpid]: ENOSPC, [getppid]: "0" });
    const filters = await loaded(c, allowBut(rule("TRACE", ["getppid"], { errnoRet: 77 }), rule("LOG", ["getuid"])));
    const answer = (number: number) => answerOf(filters, { number, architecture: OWN_TOKEN });
    assert.deepEqual([getppid, NUMBER.getuid, getpid].map(answer), [RETURN.TRACE + 77, RETURN.LOG, RETURN.ALLOW]);
    const agent = await Agent.start(c);
    const listening = { ...allowBut(rule("NOTIFY", ["mkdir", "mkdirat"])), listenerPath: agent.path };
    assert.match((await c.run("mkdir /tmp/new", filtered(listening))).stderr, /uota exceeded/);
    await c.refused(filtered(allowBut(rule("PASS", ["mkdir"]))), "/linux/seccomp/syscalls/0/action");
  });
  must(3, "the error number is that of the rule or of the default; without one it is EPERM", async (c) => {
    const { getpid, getppid, getuid } = NUMBER;
    const rules = allowBut(enospc("getpid"), rule("ERRNO", ["getppid"]), rule("ERRNO", ["getuid"], { errnoRet: 38 }));
    await expectAnswers(c, rules, { [getpid]: ENOSPC, [getppid]: EPERM, [getuid]: ENOSYS, [NUMBER.getgid]: "0" });
    await expectAnswers(c, denying(["getpid"], { defaultErrnoRet: 38 }), { [getpid]: ENOSYS, [getppid]: "0" });
    await expectAnswers(c, denying(["getpid"], { defaultErrnoRet: undefined }), { [getpid]: EPERM, [getppid]: "0" });
    // Two profiles that differ in nothing else.
    await expectAnswers(c, denying(["getpid"], { defaultErrnoRet: 28 }), { [getpid]: ENOSPC, [getppid]: "0" });
  });
  must(4, "an error number for an action that has none is refused", async (c) => {
    for (const action of ["ALLOW", "KILL", "KILL_THREAD", "KILL_PROCESS", "TRAP", "LOG", "NOTIFY"])
      await c.refused(filtered(allowBut(rule(action, ["mkdir"], { errnoRet: 1 }))), "/linux/seccomp/syscalls/0/errnoRet");
    for (const action of ["ALLOW", "KILL", "LOG"])
      await c.refused(filtered({ defaultAction: `SCMP_ACT_${action}`, defaultErrnoRet: 1 }), "/linux/seccomp/defaultErrnoRet");
  });
  nameItems(levels);
  must(7, "a rule names at least one system call", async (c) => {
    await c.refused(filtered(allowBut(rule("ERRNO", ["mkdir"]), rule("ERRNO", []))), "/linux/seccomp/syscalls/1/names");
    await c.refused(filtered(allowBut({ action: "SCMP_ACT_ERRNO" } as Rule)), "/linux/seccomp/syscalls/0/names");
  });
  should(8, "an unknown system call gives a warning, and the rule applies to the others", async (c) => {
    const profile = allowBut(enospc("getpid"), rule("ERRNO", ["nosuchcall", "getppid"], { errnoRet: 28 }));
    await expectAnswers(c, profile, { [NUMBER.getpid]: ENOSPC, [NUMBER.getppid]: ENOSPC, [NUMBER.getuid]: "0" });
    await c.warned(filtered(profile), /nosuchcall/);
  });
  must(
    9,
    "a rule compares arguments 0 to 5 by seven operators, and all its comparisons have to hold",
    async (c) => {
      const { getpid, getppid, getuid, geteuid, getgid, getegid, gettid } = NUMBER;
      const hits: readonly (readonly [number, Argument, string])[] = [
        [getpid, compare("NE", 5), "46"],
        [getppid, compare("LT", 5), "4"],
        [getuid, compare("LE", 5), "45"],
        [geteuid, compare("EQ", 5), "5"],
        [getgid, compare("GE", 5), "56"],
        [getegid, compare("GT", 5), "6"],
        // The first value is the mask, of which 4 = 100 and 5 = 101 have the one bit, and 6 = 110 both.
        [gettid, compare("MASKED_EQ", 6, 0, 4), "45"],
      ];
      const names = Object.keys(NUMBER) as (keyof typeof NUMBER)[];
      const nameOf = (number: number) => names.find((name) => NUMBER[name] === number) ?? "";
      const expected = hits.flatMap(([number, , values]) =>
        [..."456"].map((value) => [`${number}:${value}`, values.includes(value) ? ENOSPC : "0"]),
      );
      await expectAnswers(c, allowBut(...hits.map(([number, argument]) => enospc(nameOf(number), argument))), Object.fromEntries(expected));

      const places = names.slice(0, 6).map((name, index) => [NUMBER[name], enospc(name, compare("EQ", 9, index)), index] as const);
      const call = (number: number, index: number, value: number) => `${number}${":0".repeat(index)}:${value}`;
      await expectAnswers(
        c,
        allowBut(...places.map(([, entry]) => entry)),
        Object.fromEntries(
          places.flatMap(([number, , index]) => [
            [call(number, index, 9), ENOSPC],
            [call(number, index, 8), "0"],
            [call(number, (index + 1) % 6, 9), "0"],
          ]),
        ),
      );

      const both = allowBut(
        enospc("getpid", compare("EQ", 1), compare("GT", 2, 5)),
        enospc("getppid", compare("EQ", 1)),
        enospc("getppid", compare("EQ", 2)),
      );
      const far = (value: number) => `:0:0:0:0:${value}`;
      await expectAnswers(c, both, {
        [`${getpid}:1${far(3)}`]: ENOSPC,
        [`${getpid}:1${far(2)}`]: "0",
        [`${getpid}:2${far(3)}`]: "0",
        [`${getppid}:1`]: ENOSPC,
        [`${getppid}:2`]: ENOSPC,
        [`${getppid}:3`]: "0",
      });

      const same = allowBut(enospc("getpid", compare("EQ", 1), compare("EQ", 2)));
      await expectAnswers(c, same, { [`${getpid}:1`]: ENOSPC, [`${getpid}:2`]: ENOSPC, [`${getpid}:3`]: "0" });

      const refused = (argument: Argument, field: string) =>
        c.refused(filtered(allowBut(enospc("getpid", compare("EQ", 0), argument))), `/linux/seccomp/syscalls/0/args/1/${field}`);
      await refused(compare("EQ", 0, 6), "index");
      for (const op of ["SCMP_CMP_NEVER", "EQ", ""]) await refused({ ...compare("EQ", 0, 1), op }, "op");
    },
    { note: "several comparisons of one argument are alternatives, as with runc and crun" },
  );
  must(10, "values are compared in all 64 bits", async (c) => {
    const HIGH = 1n << 63n;
    const { getpid, getppid, getuid, geteuid, getgid } = NUMBER;
    const profile = allowBut(
      enospc("getpid", compare("EQ", HIGH + 1n)),
      enospc("getppid", compare("GT", HIGH)),
      enospc("getuid", compare("LE", (1n << 53n) + 1n)),
      enospc("geteuid", compare("MASKED_EQ", HIGH + 16n, 0, HIGH + 16n)),
      enospc("getgid", compare("EQ", (1n << 64n) - 1n)),
    );
    await expectAnswers(c, profile, {
      [`${getpid}:${HIGH + 1n}`]: ENOSPC,
      [`${getpid}:${HIGH}`]: "0",
      [`${getpid}:1`]: "0",
      [`${getppid}:${HIGH + 1n}`]: ENOSPC,
      [`${getppid}:${HIGH}`]: "0",
      [`${getppid}:${HIGH - 1n}`]: "0",
      [`${getuid}:${(1n << 53n) + 1n}`]: ENOSPC,
      [`${getuid}:${(1n << 53n) + 2n}`]: "0",
      [`${geteuid}:${HIGH + 23n}`]: ENOSPC,
      [`${geteuid}:23`]: "0",
      [`${getgid}:${(1n << 64n) - 1n}`]: ENOSPC,
      [`${getgid}:${(1n << 64n) - 2n}`]: "0",
    });
  });
  must(11, "the program has one filter, and no_new_privs as requested", async (c) => {
    for (const noNewPrivileges of [true, false]) {
      const container = await c.start((config) => {
        filtered(ENGINE)(config);
        config.process["noNewPrivileges"] = noNewPrivileges;
      });
      const status = await container.status();
      assert.deepEqual([status.get("Seccomp"), status.get("NoNewPrivs")], ["2", String(Number(noNewPrivileges))]);
    }
    assert.equal((await (await c.start()).status()).get("Seccomp"), "0");
    if (!c.isRunt) return;
    // Without no_new_privs the load needs a right that the program does not have, nor what waits to become it.
    const waiting = await c.create((config) => {
      filtered(ENGINE)(config);
      Object.assign(config.process, {
        noNewPrivileges: false,
        capabilities: { bounding: ["CAP_KILL"], permitted: ["CAP_KILL"], effective: ["CAP_KILL"] },
      });
    });
    const status = await waiting.status();
    assert.deepEqual([status.get("Seccomp"), status.get("CapPrm"), status.get("CapEff")], ["2", "0000000000000020", "0000000000000020"]);
  });
  should(12, "a profile may deny system calls that a runtime uses to start the program", async (c) => {
    const more = ["prctl", "umask", "setresuid", "setresgid", "setgroups", "capset", "capget", "mount", "sethostname"];
    // The others may load the filter earlier; this one they have no need for.
    const denied = ["getcwd", ...(c.isRunt ? more : [])];
    for (const noNewPrivileges of [true, false]) {
      const { getpid, getppid } = NUMBER;
      const profile = allowBut(rule("ERRNO", denied), enospc("getpid"));
      const tool = withTool(c, "calls");
      const output = await c.output(["/tmp/calls", String(getpid), String(getppid)], (config) => {
        filtered(profile)(config);
        tool(config);
        config.process["noNewPrivileges"] = noNewPrivileges;
      });
      assert.equal(output, `${getpid}: ${ENOSPC}\n${getppid}: 0\n`);
    }
  });
  should(20, "a system call newer than all those of the profile fails with ENOSYS", async (c) => {
    const { getpid, getppid } = NUMBER;
    await expectAnswers(c, denying(["getpid"]), { [getpid]: EPERM, [getppid]: "0", [UNKNOWN_CALL]: ENOSYS });
  });
  listenerItems(levels);
});
