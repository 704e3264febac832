/** SEC, the names of architectures and flags. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { program } from "../../support/programs.ts";
import { Agent } from "../agent.ts";
import * as assert from "../assert.ts";
import { waitFor } from "../container.ts";
import type { Context } from "../context.ts";
import { features, valueAt } from "../features.ts";
import { answerOf } from "../filters.ts";
import type { Levels } from "../group.ts";
import { allowBut, ENOSPC, enospc, expectAnswers, filtered, loaded, NUMBER, type Profile, RETURN, rule } from "../seccomp.ts";
import { withTool } from "../tools.ts";

const SECCOMP_FILTER_FLAG = { TSYNC: 1, LOG: 2, SPEC_ALLOW: 4 } as const;
const OWN_ARCHITECTURE = process.arch === "arm64" ? "SCMP_ARCH_AARCH64" : "SCMP_ARCH_X86_64";
const X32_BIT = 0x4000_0000;

/** AUDIT_ARCH_* (linux/audit.h), and numbers of getpid(2) and getppid(2); those with the byte order of this machine first. */
const ARCHITECTURES: Readonly<Record<string, readonly [token: number, getpid: number, getppid: number]>> = {
  SCMP_ARCH_X86: [0x4000_0003, 20, 64],
  SCMP_ARCH_X86_64: [0xc000_003e, 39, 110],
  SCMP_ARCH_X32: [0xc000_003e, X32_BIT + 39, X32_BIT + 110],
  SCMP_ARCH_ARM: [0x4000_0028, 20, 64],
  SCMP_ARCH_AARCH64: [0xc000_00b7, 172, 173],
  SCMP_ARCH_LOONGARCH64: [0xc000_0102, 172, 173],
  SCMP_ARCH_MIPSEL: [0x4000_0008, 4020, 4064],
  SCMP_ARCH_MIPSEL64: [0xc000_0008, 5038, 5108],
  SCMP_ARCH_MIPSEL64N32: [0xe000_0008, 6038, 6108],
  SCMP_ARCH_PPC64LE: [0xc000_0015, 20, 64],
  SCMP_ARCH_RISCV64: [0xc000_00f3, 172, 173],
  SCMP_ARCH_SH: [0x4000_002a, 20, 64],
};
/** A filter is of one byte order, so that these cannot be loaded here. */
const BIG_ENDIAN = ["M68K", "MIPS", "MIPS64", "MIPS64N32", "PARISC", "PARISC64", "PPC", "PPC64", "S390", "S390X", "SHEB"];

/** The flags with which filters are loaded from `run` on to the program; undefined: the runtime refuses the profile. */
async function flagsOfLoads(c: Context, profile: Profile): Promise<number[] | undefined> {
  const bundle = c.bundle((config) => {
    filtered(profile)(config);
    config.process.args = ["/bin/true"];
  });
  const file = join(c.directory, "loads");
  const script = `exec ${program("filter-loads")} ${file} "$@"`;
  const { status } = await c.shell(script, ["run", "--bundle", bundle, c.container(bundle).id]);
  if (status !== 0) return undefined;
  return readFileSync(file, "utf8").split("\n").filter(Boolean).map(Number);
}

export function nameItems({ must }: Levels): void {
  must(5, "twenty-three architectures are known, and rules apply to the listed ones; others are refused", async (c) => {
    const { getpid, getppid, getuid } = NUMBER;
    const denied = allowBut(enospc("getpid"));
    if (process.arch === "x64") {
      const architectures = ["SCMP_ARCH_X86_64", "SCMP_ARCH_X86", "SCMP_ARCH_X32"];
      await expectAnswers(c, { ...denied, architectures }, { [getpid]: ENOSPC, [getppid]: "0", "x86:20": ENOSPC, "x32:39": ENOSPC });
    }
    for (const name of ["SCMP_ARCH_VAX", "amd64", ""])
      await c.refused(filtered({ ...denied, architectures: [OWN_ARCHITECTURE, name] }), "/linux/seccomp/architectures/1");
    const architectures = Object.keys(ARCHITECTURES);
    const filters = await loaded(c, { ...denied, architectures });
    for (const [name, [architecture, one, other]] of Object.entries(ARCHITECTURES)) {
      const [answer, rest] = [one, other].map((number) => answerOf(filters, { architecture, number }));
      assert.deepEqual([answer, rest], [RETURN.ERRNO + 28, RETURN.ALLOW], name);
    }
    // Architectures that are not listed have no numbers that the rules could mean.
    const [architecture] = ARCHITECTURES["SCMP_ARCH_RISCV64"] ?? [];
    const unlisted = answerOf(await loaded(c, denied), { architecture: architecture ?? 0, number: getuid });
    assert.notEqual(unlisted, RETURN.ALLOW);
    const document = await features(c);
    const known = document && valueAt(document, "linux", "seccomp", "archs");
    if (!Array.isArray(known)) return;
    const all = [...architectures, ...BIG_ENDIAN.map((name) => `SCMP_ARCH_${name}`)].sort();
    assert.deepEqual([...known].sort(), all);
  });
  must(6, "four flags are known and passed to the kernel; others are refused", async (c) => {
    const denied = allowBut(enospc("getpid"));
    const flags = (...names: readonly string[]) => ({ flags: names.map((name) => `SECCOMP_FILTER_FLAG_${name}`) });
    for (const name of ["TSYNCED", "LOGS", ""]) await c.refused(filtered({ ...denied, ...flags(name) }), "/linux/seccomp/flags/0");
    for (const [name, flag] of Object.entries(SECCOMP_FILTER_FLAG)) {
      const loads = await flagsOfLoads(c, { ...denied, ...flags(name) });
      assert.ok(
        loads?.some((load) => (load & flag) !== 0),
        `${name}: ${loads}`,
      );
    }
    assert.deepEqual(await flagsOfLoads(c, { ...denied, flags: [] }), [0]);
    assert.deepEqual((await loaded(c, { ...denied, ...flags("LOG") }))[0]?.flags, SECCOMP_FILTER_FLAG.LOG);
    // A program that the agent has heard of then waits for the answer whatever signal it gets.
    for (const names of [["WAIT_KILLABLE_RECV"], []] as const) {
      const agent = await Agent.start(c, { hold: true });
      const tool = withTool(c, "calls");
      const container = await c.start((config) => {
        filtered({ ...allowBut(rule("NOTIFY", ["mkdir", "mkdirat"])), ...flags(...names), listenerPath: agent.path })(config);
        tool(config);
        config.process.args = ["/tmp/calls", "--trap", String(NUMBER.mkdir)];
      });
      await agent.holds();
      await container.kill("SYS");
      if (names.length === 0) await container.until("stopped");
      else
        await waitFor(
          async () => (await container.status()).get("State")?.startsWith("D") === true,
          "a program that waits in spite of a signal",
        );
      agent.release();
    }
  });
}
