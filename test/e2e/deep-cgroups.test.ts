/** A container that makes so many cgroups, or so deep ones, that no path leads to them: every verb still ends, and nothing of it is left. */
import { spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isUnified } from "../support/cgroups.ts";
import { call, isRoot, isRunt, RUNTIME, shell, useHarness } from "../support/harness.ts";
import { CGROUP_PARENT } from "../support/leaks.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { directoriesOf, HIERARCHIES, isAlive } from "../support/witness.ts";

const DEPTH = 1_500;
const WIDTH = 5_000;
/** Where this host has the unified hierarchy, as seen from outside. */
const UNIFIED = ["/sys/fs/cgroup/unified", "/sys/fs/cgroup"].find((path) => existsSync(`${path}/cgroup.subtree_control`));
/** Longest time of a verb. */
const BOUND_MS = PATIENCE_MS;
/** Longer names reach PATH_MAX sooner. */
const STEP = "nested";

/** DEPTH PIDS DIRECTORY...: cgroups in each other, and these processes go to the innermost. (A shell would keep the whole path.) */
const NEST = `
import os, sys
depth, pids = int(sys.argv[1]), sys.argv[2].split()
for top in sys.argv[3:]:
    os.chdir(top)
    for _ in range(depth):
        os.mkdir("${STEP}"); os.chdir("${STEP}")
        if os.path.exists("cpuset.cpus"):
            for name in ("cpuset.cpus", "cpuset.mems"):
                open(name, "w").write(open("../" + name).read())
    for pid in pids:
        open("cgroup.procs", "w").write(pid)
`;

describe.skipIf(!isRoot || !isRunt)("cgroups without an end (needs root)", () => {
  const { bundle, directory, id, ok, root, runtime } = useHarness();

  const prepared = (place: string, withPids: boolean) =>
    bundle((config) => {
      shell(config, "sleep 1000 & exec sleep 1000");
      config.linux.cgroupsPath = place;
      if (!withPids) config.linux.namespaces = config.linux.namespaces.filter(({ type }) => type !== "pid");
    });

  function python(script: string, ...args: readonly string[]): void {
    const { status, stderr } = spawnSync("python3", ["-c", script, ...args], { encoding: "utf8" });
    if (status !== 0) throw new Error(stderr);
  }

  async function timed(args: readonly string[]) {
    const begun = performance.now();
    const result = await call(directory, ["sh", "-c", 'ulimit -n 1024; exec "$@"', "sh", RUNTIME, "--root", root, ...args]);
    expect(performance.now() - begun).toBeLessThan(BOUND_MS);
    return result;
  }

  /** The depth is what matters: in all hierarchies of v1 each look would take seconds on a busy host, and a verb looks several times. */
  const someOf = (place: string) => directoriesOf(place).filter((path) => isUnified || /\/(cpuacct|pids|freezer)\//.test(path));

  async function run(place: string, withPids: boolean) {
    const name = id();
    await ok(["run", "--detach", "-b", prepared(place, withPids), name]);
    await expect.poll(async () => JSON.parse(await ok(["ps", "-f", "json", name])).length).toBe(2);
    return { name, pids: JSON.parse(await ok(["ps", "-f", "json", name])) as number[] };
  }

  test("1,500 in each other: every verb ends", async () => {
    const place = `${CGROUP_PARENT}/deep`;
    const { name, pids } = await run(place, false);
    python(NEST, String(DEPTH), pids.join(" "), ...someOf(place));
    expect(await timed(["ps", "-f", "json", name])).toEqual({ status: 0, stdout: `${JSON.stringify(pids)}\n`, stderr: "" });
    expect(await timed(["events", "--stats", name])).toMatchObject({ status: 0, stderr: "" });
    expect(await timed(["gc", "--dry-run"])).toMatchObject({ status: 0, stderr: "" });
    expect(await timed(["kill", "--all", name, "KILL"])).toEqual({ status: 0, stdout: "", stderr: "" });
    await expect.poll(() => pids.filter(isAlive)).toEqual([]);
    expect(await timed(["delete", "--force", name])).toEqual({ status: 0, stdout: "", stderr: "" });
    expect(directoriesOf(CGROUP_PARENT)).toEqual([]);
  });

  test("1,500 in each other: delete --force alone ends and removes all of it", async () => {
    const place = `${CGROUP_PARENT}/deep-forced`;
    const { name, pids } = await run(place, true);
    python(NEST, String(DEPTH), pids.join(" "), ...someOf(place));
    expect(await timed(["delete", "--force", name])).toEqual({ status: 0, stdout: "", stderr: "" });
    expect([pids.filter(isAlive), directoriesOf(CGROUP_PARENT)]).toEqual([[], []]);
  });

  test.skipIf(UNIFIED === undefined)("1,500 in each other on v2", async () => {
    const name = id();
    const place = `${CGROUP_PARENT}/deep-unified`;
    const nest = join(directory, "nest.py");
    writeFileSync(nest, NEST);
    const lines = `set -e
${isUnified ? "" : "mount -t cgroup2 none /sys/fs/cgroup"}
ulimit -n 1024
RUNT='${RUNTIME} --root ${root}'
$RUNT run -d -b ${prepared(place, false)} ${name} </dev/null >/dev/null 2>&1
python3 ${nest} ${DEPTH} "$(cat /sys/fs/cgroup${place}/cgroup.procs)" /sys/fs/cgroup${place}
$RUNT ps -f json ${name} | tr , '\n' | wc -l
$RUNT events --stats ${name} >/dev/null
$RUNT gc --dry-run >/dev/null
$RUNT kill --all ${name} CONT
$RUNT delete --force ${name}
ls -d /sys/fs/cgroup${CGROUP_PARENT} 2>/dev/null || echo gone`;
    expect(await call(directory, ["unshare", "-m", "sh", "-c", lines])).toEqual({ status: 0, stdout: "2\ngone\n", stderr: "" });
  });

  test("5,000 beside each other", async () => {
    const place = `${CGROUP_PARENT}/wide`;
    const { name, pids } = await run(place, false);
    // Without cpuset and memory, whose cgroups cost the kernel much: the number is what matters.
    const tops = directoriesOf(place).filter((path) => isUnified || /\/(pids|freezer)\//.test(path));
    const wide = `import os, sys\nfor top in sys.argv[1:]:\n    for i in range(${WIDTH}): os.mkdir(top + "/w%d" % i)\n`;
    python(wide, ...tops);
    for (const top of tops) for (const [index, pid] of pids.entries()) writeFileSync(`${top}/w${index * 4999}/cgroup.procs`, String(pid));
    expect(await timed(["ps", "-f", "json", name])).toEqual({ status: 0, stdout: `${JSON.stringify(pids)}\n`, stderr: "" });
    expect(await timed(["gc", "--dry-run"])).toMatchObject({ status: 0, stderr: "" });
    expect(await timed(["delete", "--force", name])).toEqual({ status: 0, stdout: "", stderr: "" });
    expect([pids.filter(isAlive), directoriesOf(CGROUP_PARENT)]).toEqual([[], []]);
  });

  test("a tree that changes while it is walked", async () => {
    const place = `${CGROUP_PARENT}/moving`;
    const name = id();
    const hierarchies = HIERARCHIES.filter((path) => isUnified || /\/(pids|freezer)$/.test(path));
    const mover = join(directory, "mover.py");
    writeFileSync(
      mover,
      `import os, sys, random
os.setsid()
tops = sys.argv[1:]
for top in tops: open(top + "/cgroup.procs", "w").write("0")
print("ready", flush=True)
while True:
    for top in tops:
        at = top
        for _ in range(random.randrange(40)):
            at += "/m%d" % random.randrange(3)
            try: os.mkdir(at)
            except OSError: pass
        for base, names, _ in os.walk(top, topdown=False):
            for each in names:
                if random.randrange(2):
                    try: os.rmdir(base + "/" + each)
                    except OSError: pass
`,
    );
    await ok(["run", "--detach", "-b", prepared(place, false), name]);
    const tops = hierarchies.map((hierarchy) => hierarchy + place);
    let pid = 0;
    const moving = call(directory, ["python3", mover, ...tops], {
      started: (child) => {
        pid = child.pid ?? 0;
      },
    });
    await expect.poll(async () => JSON.parse(await ok(["ps", "-f", "json", name])).includes(pid)).toBe(true);
    for (let round = 0; round < 20; round++) {
      expect(await timed(["ps", "-f", "json", name])).toMatchObject({ status: 0, stderr: "" });
      expect(await timed(["kill", "--all", name, "CONT"])).toMatchObject({ status: 0 });
      expect(await timed(["gc", "--dry-run"])).toMatchObject({ status: 0, stderr: "" });
    }
    expect(await timed(["delete", "--force", name])).toMatchObject({ status: 0 });
    await moving;
    expect(directoriesOf(CGROUP_PARENT)).toEqual([]);
  });

  test("directories in the container's state, deeper than any path, go with it", async () => {
    const name = id();
    await runtime(["create", "-b", prepared(`${CGROUP_PARENT}/state`, true), name]);
    python(
      `import os, sys\nos.chdir(sys.argv[1])\nfor _ in range(${DEPTH}):\n    os.mkdir("${STEP}"); os.chdir("${STEP}")\nos.symlink("/", "link"); open("file", "w")\n`,
      join(root, name),
    );
    expect(await timed(["delete", "--force", name])).toEqual({ status: 0, stdout: "", stderr: "" });
    expect(spawnSync("ls", [root], { encoding: "utf8" }).stdout).toBe("");
  });
});
