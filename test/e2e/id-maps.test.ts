/** User namespaces of a caller without rights: its own id alone, and more with newuidmap and newgidmap. MAP-06. */
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Config } from "../support/config.ts";
import { call, isRoot, isRunt, type Result, RUNTIME, shell, useHarness } from "../support/harness.ts";

const NEWUIDMAP = "/usr/bin/newuidmap";
/** A user that this host does not have: it exists in the mount namespace of a test alone. */
const ID = 54_321;
const FIRST_SUBID = 7_000_000;

type Maps = { containerID: number; hostID: number; size: number }[];
const OWN: Maps = [{ containerID: 0, hostID: ID, size: 1 }];
const GRANTED: Maps = [...OWN, { containerID: 1, hostID: FIRST_SUBID, size: 65_536 }];

describe.skipIf(!isRoot || !isRunt || !existsSync(NEWUIDMAP))(`id maps without rights (needs root and ${NEWUIDMAP})`, () => {
  const { bundle, directory, id } = useHarness();
  const files = join(directory, "etc");
  const state = join(directory, "rootless");

  beforeAll(() => {
    chmodSync(directory, 0o755);
    for (const path of [files, state]) mkdirSync(path);
    chownSync(state, ID, ID);
    writeFileSync(join(files, "passwd"), `${readFileSync("/etc/passwd", "utf8")}runt-test:x:${ID}:${ID}::/:/bin/sh\n`);
    for (const name of ["subuid", "subgid"]) writeFileSync(join(files, name), `runt-test:${FIRST_SUBID}:65536\n`);
  });
  afterAll(() => rmSync(state, { recursive: true, force: true }));

  /** Run the runtime as the user, on a host that knows it. `prepare` is done as root before. */
  function asUser(args: readonly string[], prepare = ":"): Promise<Result> {
    const binds = ["passwd", "subuid", "subgid"].map((name) => `mount --bind ${join(files, name)} /etc/${name}`);
    const user = `exec setpriv --reuid ${ID} --regid ${ID} --clear-groups "$@"`;
    const script = ["mount --make-rprivate /", ...binds, prepare, user].join(" && ");
    return call(directory, ["unshare", "-m", "sh", "-c", script, "sh", RUNTIME, "--root", state, ...args]);
  }

  const rootless = (uidMappings: Maps, gidMappings: Maps, change: (config: Config) => void = () => {}) =>
    bundle((config) => {
      Object.assign(config.linux, { uidMappings, gidMappings, resources: {} });
      config.linux.cgroupsPath = "";
      config.linux.namespaces.push({ type: "user" });
      config.mounts = config.mounts.filter(({ type }) => type !== "cgroup");
      for (const mount of config.mounts) mount.options = (mount.options ?? []).filter((option) => !option.startsWith("gid="));
      config.process.rlimits = [];
      shell(config, "id -u; id -g; id -G; cat /proc/self/uid_map /proc/self/gid_map /proc/self/setgroups");
      change(config);
    });
  const words = ({ stdout }: Result) =>
    stdout
      .trim()
      .split("\n")
      .map((line) => line.trim().replaceAll(/\s+/g, " "));

  test("more than the own id: the maps are those of newuidmap and newgidmap, and groups can be set", async () => {
    const path = rootless(GRANTED, GRANTED, (config) => {
      config.process.user = { uid: 1000, gid: 1001, additionalGids: [5, 6] };
    });
    const result = await asUser(["run", "-b", path, id()]);
    expect(result).toMatchObject({ status: 0, stderr: "" });
    const maps = [`0 ${ID} 1`, `1 ${FIRST_SUBID} 65536`];
    expect(words(result)).toEqual(["1000", "1001", "1001 5 6", ...maps, ...maps, "allow"]);
  });

  test("the own id alone is mapped without help, and setgroups is denied", async () => {
    const path = rootless(OWN, OWN);
    const result = await asUser(
      ["run", "-b", path, id()],
      `mount --bind /dev/null ${NEWUIDMAP} && mount --bind /dev/null /usr/bin/newgidmap`,
    );
    expect(result).toMatchObject({ status: 0, stderr: "" });
    expect(words(result)).toEqual(["0", "0", "0", `0 ${ID} 1`, `0 ${ID} 1`, "deny"]);
  });

  test("what the user has not been granted is refused in the words of newuidmap", async () => {
    const path = rootless([{ containerID: 0, hostID: 1, size: 10 }], OWN);
    const result = await asUser(["run", "-b", path, id()]);
    expect(result.status).toBe(1);
    expect(result.stderr).toContain(`idmap.write: ${NEWUIDMAP}: exit status 1: newuidmap: `);
  });

  test("without the programs the error says what is missing, before anything is done", async () => {
    const result = await asUser(["run", "-b", rootless(GRANTED, OWN), id()], `mount --bind /dev/null ${NEWUIDMAP}`);
    expect(result.status).toBe(1);
    expect(result.stderr).toContain("linux.uidMappings: more than the caller's own id needs newuidmap, which is not installed");
    const group = await asUser(["run", "-b", rootless(OWN, GRANTED), id()], "mount --bind /dev/null /usr/bin/newgidmap");
    expect(group.stderr).toContain("linux.gidMappings: more than the caller's own id needs newgidmap, which is not installed");
  });
});
