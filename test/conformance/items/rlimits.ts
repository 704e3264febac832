import { execFileSync } from "node:child_process";
import type { Config } from "../../support/config.ts";
import * as assert from "../assert.ts";
import type { Context } from "../context.ts";
import { group } from "../group.ts";
import { missing } from "../host.ts";

const INFINITY = 18446744073709551615n;

/** A hard limit that a caller gives itself, for one that cannot be raised. */
const LOWERED = 1n << 40n;

/** Limits under which a container can run, and their lines in /proc/PID/limits. */
const LIMITS: Readonly<Record<string, { readonly row: string; readonly value: bigint }>> = {
  RLIMIT_AS: { row: "Max address space", value: 1n << 40n },
  RLIMIT_CORE: { row: "Max core file size", value: 1_000n },
  RLIMIT_CPU: { row: "Max cpu time", value: 2_000n },
  RLIMIT_DATA: { row: "Max data size", value: 1n << 41n },
  RLIMIT_FSIZE: { row: "Max file size", value: 1n << 42n },
  RLIMIT_LOCKS: { row: "Max file locks", value: 3_000n },
  RLIMIT_MEMLOCK: { row: "Max locked memory", value: 4_000_000n },
  RLIMIT_MSGQUEUE: { row: "Max msgqueue size", value: 500_000n },
  RLIMIT_NICE: { row: "Max nice priority", value: 11n },
  RLIMIT_NOFILE: { row: "Max open files", value: 1_200n },
  RLIMIT_NPROC: { row: "Max processes", value: 13_000n },
  RLIMIT_RSS: { row: "Max resident set", value: 1n << 43n },
  RLIMIT_RTPRIO: { row: "Max realtime priority", value: 14n },
  RLIMIT_RTTIME: { row: "Max realtime timeout", value: 15_000_000n },
  RLIMIT_SIGPENDING: { row: "Max pending signals", value: 16_000n },
  RLIMIT_STACK: { row: "Max stack size", value: 7_000_000n },
};

interface Limit {
  readonly type: string;
  readonly soft: bigint;
  readonly hard: bigint;
}

const rlimits =
  (...entries: readonly Limit[]) =>
  (config: Config) =>
    void Object.assign(config.process, { rlimits: entries });

const number = (text: string | undefined): bigint => (text === "unlimited" ? INFINITY : BigInt(text ?? -1));

/** Soft and hard limit of one row. */
function parseLimit(text: string, row: string): [soft: bigint, hard: bigint] {
  const [soft, hard] = (text.split("\n").find((line) => line.startsWith(`${row}  `)) ?? "").slice(row.length).trim().split(/\s+/);
  return [number(soft), number(hard)];
}

const own = execFileSync("cat", ["/proc/self/limits"], { encoding: "utf8" });

const hasRights = () => missing(["CAP_SYS_RESOURCE"]) === undefined;

/** The wanted one where it can be had: without CAP_SYS_RESOURCE a hard limit never rises. */
function reachable(row: string, wanted: bigint): bigint {
  const [, hard] = parseLimit(own, row);
  return hasRights() || wanted < hard ? wanted : hard;
}

async function seen(c: Context, ...entries: readonly Limit[]): Promise<[bigint, bigint][]> {
  const text = await (await c.start(rlimits(...entries))).proc("limits");
  return entries.map(({ type }) => parseLimit(text, LIMITS[type]?.row ?? ""));
}

const both = ({ soft, hard }: Limit) => [soft, hard];

export const rlimitsGroup = group("RLM", "rlimits", ({ must, should }) => {
  must(1, "the soft and the hard limit of an entry hold in the container", async (c) => {
    const apart = { type: "RLIMIT_NOFILE", soft: 100n, hard: 200n };
    const equal = { type: "RLIMIT_CPU", soft: 3_000n, hard: 3_000n };
    assert.deepEqual(await seen(c, apart, equal), [both(apart), both(equal)]);
    const output = await c.output("ulimit -n; ulimit -H -n", rlimits(apart));
    assert.equal(output, "100\n200\n");
  });
  must(2, "an unknown type is refused", async (c) => {
    for (const type of ["RLIMIT_TEST", "NOFILE", "rlimit_nofile", ""])
      await c.refused(rlimits({ type, soft: 1n, hard: 1n }), "/process/rlimits/0/type");
  });
  must(3, "a duplicate type is refused", async (c) => {
    const entry = { type: "RLIMIT_NOFILE", soft: 100n, hard: 100n };
    await c.refused(rlimits(entry, { ...entry, soft: 50n }), "/process/rlimits/1/type");
  });
  must(4, "every type that Linux has can be set", async (c) => {
    const entries = Object.entries(LIMITS).map(([type, { row, value }]) => {
      const hard = reachable(row, value);
      return { type, soft: hard === 0n ? 0n : hard - 1n, hard };
    });
    assert.deepEqual(await seen(c, ...entries), entries.map(both));
  });
  should(5, "numbers use all 64 bits, the highest one means unlimited", async (c) => {
    const entries = [
      { type: "RLIMIT_FSIZE", soft: (1n << 53n) + 1n, hard: INFINITY - 1n },
      { type: "RLIMIT_DATA", soft: INFINITY - 2n, hard: INFINITY },
      { type: "RLIMIT_CORE", soft: INFINITY, hard: INFINITY },
    ];
    assert.deepEqual(await seen(c, ...entries), entries.map(both));
  });
  must(6, "a limit that the caller may not set is an error", async (c) => {
    // Those that nobody has here without the right to raise them, and two more.
    const none = Object.keys(LIMITS).filter((type) => parseLimit(own, LIMITS[type]?.row ?? "")[1] === 0n);
    for (const type of new Set([...none, "RLIMIT_NOFILE", "RLIMIT_FSIZE"])) {
      const [, current] = parseLimit(own, LIMITS[type]?.row ?? "");
      const highest = current < LOWERED ? current : LOWERED;
      const bundle = c.bundle(rlimits({ type, soft: 0n, hard: highest + 1n }));
      const container = c.container(bundle);
      const option = `--${type.slice("RLIMIT_".length).toLowerCase()}=${highest}:${highest}`;
      const script = `exec prlimit ${option} setpriv --bounding-set -sys_resource --inh-caps -sys_resource "$@"`;
      const { status, stderr } = await c.shell(script, ["create", "--bundle", bundle, container.id]);
      assert.notEqual(status, 0, type);
      assert.match(stderr, /rlimit|not permitted/i);
      if (c.isRunt) assert.match(stderr, /\/process\/rlimits\/0[^/]/);
      await c.nothingOf(container);
    }
  });
});
