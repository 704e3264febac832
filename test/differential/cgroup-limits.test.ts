/** The same limits under runt and runc on cgroup v1: every setting that the kernel shows is the same after create and after update. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { CGROUPS, isUnified } from "../support/cgroups.ts";
import { call, isRoot, RUNTIME, shell, useHarness } from "../support/harness.ts";
import { CGROUP_PARENT } from "../support/leaks.ts";
import { LIMITS, resourcesOf } from "../support/limits.ts";

const RUNC = "/usr/sbin/runc";
const MIB = 1024 * 1024;

/** Files that count something, or are no setting of a container. */
const NO_SETTING =
  /^(tasks|cgroup\.|notify_on_release|.*(stat|usage|usage_.*|failcnt|max_usage.*|slabinfo|io_serv.*|reset_stats|effective_.*|pressure.*|stat\.local|current|events|events\.local|peak|state|force_empty|self_freezing|parent_freezing)$|.*usage_in_bytes$)/;

/** runc 1.1.5 leaves the reservations of huge pages alone; 1.2 sets them, and so does runt. */
const RESERVATIONS = /^hugetlb\..*\.rsvd\./;

/** Limits that Debian's runc 1.1.5 leaves out, and those that its update leaves as they are. */
const NOT_IN_RUNC = ["cpu.burst", "memory.useHierarchy"];
const NOT_UPDATED = /^(memory\.swappiness|memory\.disableOOMKiller|blockIO\.throttle\w+|hugepageLimits|network\.\w+)$/;
const CREATED = LIMITS.filter(({ field }) => !NOT_IN_RUNC.includes(field));
const UPDATED = CREATED.filter(({ field }) => !NOT_UPDATED.test(field));

type Resources = Readonly<Record<string, unknown>>;

const CASES: readonly (readonly [string, Resources, Resources])[] = [
  ["nothing", {}, {}],
  ["everything", resourcesOf(CREATED, 0), resourcesOf(UPDATED, 1)],
  ["everything, backwards", resourcesOf(CREATED, 1), resourcesOf(UPDATED, 0)],
  ["unlimited memory", { memory: { limit: 64 * MIB, swap: 64 * MIB } }, { memory: { limit: -1 } }],
  ["a higher swap alone", { memory: { limit: 64 * MIB, swap: 64 * MIB } }, { memory: { swap: 96 * MIB } }],
  ["unlimited swap", { memory: { limit: 64 * MIB, swap: -1 } }, { memory: { limit: 32 * MIB, swap: 32 * MIB } }],
  ["period without quota", { cpu: { period: 50_000 } }, { cpu: { quota: 10_000 } }],
  ["quota without period", { cpu: { quota: 30_000 } }, { cpu: { period: 200_000 } }],
  ["no quota any more", { cpu: { quota: 30_000, period: 50_000 } }, { cpu: { quota: -1 } }],
  ["unlimited processes", { pids: { limit: 10 } }, { pids: { limit: -1 } }],
  ["zeros, which ask for nothing", { memory: { limit: 0, swap: 0 }, cpu: { shares: 0, quota: 0, period: 0 } }, { cpu: { shares: 0 } }],
  [
    "device rules",
    {
      devices: [
        { allow: false, access: "rwm" },
        { allow: true, type: "c", major: 4, minor: 64, access: "rw" },
        { allow: true, type: "b", major: 8, access: "r" },
        { allow: true, type: "c", major: 10, minor: 229, access: "rwm" },
        { allow: false, type: "c", major: 4, minor: 64, access: "w" },
      ],
    },
    { pids: { limit: 5 } },
  ],
  ["all devices but one", { devices: [{ allow: true, access: "rwm" }] }, { pids: { limit: 5 } }],
];

describe.skipIf(!isRoot || isUnified || !existsSync(RUNC))("limits under runt and runc (needs root, cgroup v1 and runc)", () => {
  const { bundle, directory, id, root } = useHarness({ peers: true });

  /** Every setting of the cgroup, "file: content". */
  function settings(path: string): string[] {
    return readdirSync(CGROUPS)
      .filter((name) => name !== "unified")
      .flatMap((hierarchy) => {
        const place = `${CGROUPS}/${hierarchy}${path}`;
        if (!existsSync(`${place}/tasks`)) return [];
        return readdirSync(place)
          .filter((file) => !NO_SETTING.test(file) && !RESERVATIONS.test(file))
          .flatMap((file) => setting(place, file) ?? []);
      })
      .sort();
  }

  function setting(place: string, file: string): string | undefined {
    try {
      return `${file}: ${readFileSync(join(place, file), "utf8").trim().split("\n").sort().join(", ")}`;
    } catch {
      // Some can only be written.
      return undefined;
    }
  }

  async function under(runtime: string, create: Resources, update: Resources): Promise<readonly [string[], string[]]> {
    const name = id();
    const place = `${CGROUP_PARENT}-${name}`;
    const path = bundle((config) => {
      shell(config, "exec sleep 1000");
      config.linux.resources = create;
      config.linux.cgroupsPath = place;
    });
    const run = async (args: readonly string[], input = "") => {
      const { status, stderr } = await call(directory, [runtime, "--root", `${root}-${name}`, ...args], { input });
      if (status !== 0) throw new Error(`${runtime} ${args.join(" ")}: ${stderr}`);
    };
    await run(["create", "-b", path, name]);
    try {
      const before = settings(place);
      await run(["update", "-r", "-", name], JSON.stringify(update));
      return [before, settings(place)];
    } finally {
      await run(["delete", "--force", name]);
    }
  }

  test.each(CASES)("%s", async (_, create, update) => {
    const own = await under(RUNTIME, create, update);
    const other = await under(RUNC, create, update);
    expect(own[0].length).toBeGreaterThan(20);
    expect(own[0]).toEqual(other[0]);
    expect(own[1]).toEqual(other[1]);
  });

  test.each([
    ["swap below memory", { memory: { limit: 64 * MIB, swap: 32 * MIB } }],
    ["too few shares", { cpu: { shares: 1 } }],
    ["too many shares", { cpu: { shares: 262_145 } }],
    ["a quota below the least", { cpu: { quota: 500 } }],
    ["CPUs that are not there", { cpu: { cpus: "4000" } }],
    ["a leaf weight, which no kernel has any more", { blockIO: { leafWeight: 100 } }],
    ["unified", { unified: { "memory.max": "1" } }],
    ["swappiness above 100", { memory: { swappiness: 101 } }],
  ])("%s: both refuse", async (_, create) => {
    await expect(under(RUNTIME, create, {})).rejects.toThrow();
    await expect(under(RUNC, create, {})).rejects.toThrow();
  });
});
