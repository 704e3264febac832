/** Flags of bind mounts: every combination of the table, as the container sees it. OPT, MNT. */
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type FlagRow, flagRows, mountSources, sorted, unmountSources } from "../support/bind-flags.ts";
import type { Config, Mount } from "../support/config.ts";
import { call, isRoot, isRunt, RUNTIME, shell, useHarness } from "../support/harness.ts";
import { mapsTmpfs } from "../support/kernel.ts";
import { REPOSITORY } from "../support/programs.ts";

const ROWS = flagRows();
const MAP = [{ containerID: 0, hostID: 100_000, size: 65_536 }];
const REFUSE = join(REPOSITORY, "build/test/refuse");

interface Place {
  readonly column: "own" | "user";
  readonly change?: (config: Config) => void;
  readonly mapped?: boolean;
  /** System calls that are missing. */
  readonly without?: string;
}

describe.skipIf(!isRoot || !isRunt)("flags of bind mounts (needs root)", () => {
  const { bundle, directory, id, ok, root } = useHarness();
  let sources: ReadonlyMap<string, string> = new Map();

  beforeAll(() => {
    sources = mountSources(
      directory,
      ROWS.map(({ source }) => source),
    );
  });
  afterAll(() => unmountSources(sources));

  const userNamespace = (config: Config): void => {
    config.linux.namespaces.push({ type: "user" });
    config.linux.uidMappings = config.linux.gidMappings = MAP;
  };

  function mountOf({ options, source }: FlagRow, at: number, { mapped }: Place): Mount {
    const words = [...options.split(","), ...(mapped ? ["idmap"] : [])];
    const ids = mapped ? { uidMappings: MAP, gidMappings: MAP } : {};
    return { destination: `/mnt/${at}`, type: "bind", source: sources.get(source)!, options: words, ...ids };
  }

  /** Runs a container with the binds of these rows. */
  function run(rows: readonly FlagRow[], place: Place) {
    const path = bundle((config) => {
      shell(config, "cat /proc/self/mountinfo");
      config.mounts.push({ destination: "/mnt", type: "tmpfs", source: "tmpfs", options: ["mode=755"] });
      config.mounts.push(...rows.map((row, index) => mountOf(row, index, place)));
      place.change?.(config);
    });
    const refusing = place.without === undefined ? [] : [REFUSE, "ENOSYS", place.without];
    return call(directory, [...refusing, RUNTIME, "--root", root, "run", "-b", path, id()]);
  }

  /** Rows whose flags are not those of the table, as "options source: flags". */
  async function differences(place: Place, of: readonly FlagRow[] = ROWS): Promise<string[]> {
    const taken = of.filter((row) => row[place.column] !== "refused");
    const { status, stdout, stderr } = await run(taken, place);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    const seen = new Map([...stdout.matchAll(/^\S+ \S+ \S+ \S+ \/mnt\/(\d+) (\S+) /gm)].map(([, at, flags]) => [Number(at), flags!]));
    expect(seen.size).toBe(taken.length);
    return taken.flatMap((row, at) => {
      const flags = sorted(seen.get(at)!.replace(",idmapped", ""));
      return flags === row[place.column] ? [] : [`${row.options} of ${row.source}: ${flags}`];
    });
  }

  /** A container of one row of its own each: every refused one. */
  async function refusals(place: Place): Promise<void> {
    const refused = ROWS.filter((row) => row[place.column] === "refused");
    expect(refused.length).toBeGreaterThan(20);
    for (const row of refused) {
      const { status, stdout, stderr } = await run([row], place);
      expect({ row, status, stdout }).toEqual({ row, status: 1, stdout: "" });
      expect(stderr).toMatch(/locked/);
      expect(stderr).toContain("operation not permitted");
    }
  }

  test("without a user namespace a word for a flag is the whole of them", async () => {
    expect(await differences({ column: "own" })).toEqual([]);
  });

  test("in a user namespace flags that nobody named stay locked", async () => {
    expect(await differences({ column: "user", change: userNamespace })).toEqual([]);
  });

  test("and those that were named are refused", async () => {
    await refusals({ column: "user", change: userNamespace });
  });

  test("in a joined user namespace, too", async () => {
    const holder = id();
    await ok(["create", "-b", bundle(userNamespace), holder]);
    const { pid } = JSON.parse(await ok(["state", holder]));
    const path = `/proc/${pid}/ns/user`;
    expect(statSync(path).ino).not.toBe(statSync("/proc/self/ns/user").ino);
    const change = (config: Config): void => void config.linux.namespaces.push({ type: "user", path });
    expect(await differences({ column: "user", change })).toEqual([]);
  });

  test.skipIf(!mapsTmpfs)("with mapped ids", async () => {
    expect(await differences({ column: "own", mapped: true })).toEqual([]);
    expect(await differences({ column: "user", mapped: true, change: userNamespace })).toEqual([]);
  });

  test.skipIf(!existsSync(REFUSE))("where mount_setattr(2) is missing", async () => {
    const single = ROWS.filter(({ options }) => !/\br(?:ro|rw|no\w+|suid|strictatime|relatime|atime)\b/.test(options));
    expect(single.length).toBeGreaterThan(300);
    expect(await differences({ column: "own", without: "mount_setattr" }, single)).toEqual([]);
    const inside: Place = { column: "user", without: "mount_setattr", change: userNamespace };
    expect(await differences(inside, single)).toEqual([]);
  });
});
