/** `runt gc`: what killed calls leave goes, and nothing else. */
import type { ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { hierarchyRoots as hierarchies, isUnified } from "../support/cgroups.ts";
import type { Config } from "../support/config.ts";
import { call, isRoot, isRunt, RUNTIME, shell, useHarness } from "../support/harness.ts";
import { CGROUP_PARENT } from "../support/leaks.ts";

interface Found {
  readonly kind: string;
  readonly id?: string;
  readonly paths: readonly string[];
  readonly outcome: string;
  readonly reason: string;
  readonly processes?: readonly number[];
}

describe.skipIf(!isRoot || !isRunt)("gc (needs root)", () => {
  const { bundle, directory, id, ok, root, runtime, until } = useHarness();
  let place = "";
  let count = 0;
  beforeEach(() => {
    place = `${CGROUP_PARENT}/gc/${++count}`;
  });

  /** The directories of this test's cgroup that there are. */
  const directories = (path = place) => hierarchies.map((hierarchy) => hierarchy + path).filter((path) => existsSync(path));

  const prepared = (change: (config: Config) => void = () => {}) =>
    bundle((config) => {
      shell(config, "sleep 1000");
      config.linux.cgroupsPath = place;
      change(config);
    });

  /** What it says of this file's containers and cgroups: other runs on the machine have theirs. */
  async function gc(...flags: readonly string[]): Promise<readonly Found[]> {
    const { objects } = JSON.parse(await ok(["gc", "--yes", "--format", "json", ...flags])) as { objects: readonly Found[] };
    return objects
      .filter(({ kind, paths }) => kind !== "level" || paths[0]?.includes(CGROUP_PARENT))
      .map((found) => ({ ...found, paths: [...found.paths].sort() }));
  }

  async function run(change?: (config: Config) => void): Promise<string> {
    const name = id();
    await ok(["run", "--detach", "-b", prepared(change), name]);
    return name;
  }

  /** The container's processes end; its state stays. */
  async function stop(name: string): Promise<void> {
    await ok(["kill", name, "KILL"]);
    await until(name, "stopped");
  }

  /** Containers that only their cgroup still knows. */
  let lost: number[] = [];
  const loseState = (name: string) => {
    lost.push(JSON.parse(readFileSync(join(root, name, "state.json"), "utf8")).pid);
    rmSync(join(root, name), { recursive: true });
  };
  afterEach(async () => {
    for (const pid of lost)
      if (directories().some((path) => readFileSync(`${path}/cgroup.procs`, "utf8").includes(`${pid}\n`))) process.kill(pid, "SIGKILL");
    lost = [];
    if (directories().length > 0) await runtime(["gc", "--yes"]);
  });

  test("nothing to collect is nothing to say, and the JSON fits its schema", async () => {
    const validate = new Ajv2020({ strict: false }).compile(JSON.parse(await ok(["schema", "gc"])));
    expect(validate(JSON.parse(await ok(["gc", "--yes", "-f", "json"])))).toBe(true);
    const name = await run();
    expect(await gc()).toEqual([]);
    loseState(name);
    const found = JSON.parse(await ok(["gc", "--yes", "-f", "json"]));
    expect(validate(found), JSON.stringify(validate.errors)).toBe(true);
    expect(found).toMatchObject({ root, dryRun: false });
    const own = (found.objects as readonly Found[]).find(({ id }) => id === name);
    for (const pid of own?.processes ?? []) process.kill(pid, "SIGKILL");
    await expect.poll(async () => (await gc())[0]?.outcome).toBe("removed");
  });

  test("cgroups whose state is lost go, with the levels that runt has made above them", async () => {
    const name = await run();
    await stop(name);
    loseState(name);
    const paths = directories();
    expect(paths).toHaveLength(hierarchies.length);
    expect(await gc("--dry-run")).toEqual([
      { kind: "cgroup", id: name, paths, outcome: "found", reason: "its state is lost, and nothing lives in it" },
    ]);
    expect(directories()).toEqual(paths);
    expect(existsSync(join(root, name))).toBe(false);
    expect(await gc()).toMatchObject([{ kind: "cgroup", id: name, paths, outcome: "removed" }]);
    expect(directories()).toEqual([]);
    expect(directories(CGROUP_PARENT)).toEqual([]);
    expect(existsSync(join(root, name))).toBe(false);
    expect(await gc()).toEqual([]);
    await ok(["run", "-b", prepared((config) => shell(config, "true")), name]);
  });

  test("with the whole state root", async () => {
    const other = join(directory, "lost-root");
    const name = id();
    await ok(["--root", other, "run", "--detach", "-b", prepared(), name]);
    await ok(["--root", other, "kill", name, "KILL"]);
    await expect.poll(async () => JSON.parse(await ok(["--root", other, "state", name])).status).toBe("stopped");
    rmSync(other, { recursive: true });
    expect(await ok(["--root", other, "gc", "--yes"])).toMatch(new RegExp(`removed +cgroup +${name} `));
    expect([directories(), existsSync(other)]).toEqual([[], false]);
  });

  test("a container of another mount namespace is known by the directory of its state root, not by the path", async () => {
    const [other, here] = [join(directory, "other-namespace"), join(directory, "same-path")];
    for (const path of [other, here]) mkdirSync(path, { mode: 0o700 });
    const name = id();
    const path = prepared();
    const script = `mount --bind "$0" "$1" && "$2" --root "$1" run --detach -b "$3" "$4" && "$2" --root "$1" kill "$4" KILL && sleep 1`;
    const words = ["unshare", "--mount", "--propagation", "private", "sh", "-c", script, other, here, RUNTIME, path, name];
    expect(await call(directory, words)).toMatchObject({ status: 0 });
    const collected = async () => JSON.parse(await ok(["--root", here, "gc", "--yes", "-f", "json"]));
    const found = await collected();
    expect(found.objects.filter((one: Found) => one.id === name)).toEqual([]);
    expect(found.otherRoots).toContain(here);
    expect(directories()).toHaveLength(hierarchies.length);
    // One that was removed and made again is another directory, too: it is younger than the container.
    rmSync(here, { recursive: true });
    await ok(["--root", here, "create", "-b", bundle((config) => shell(config, "true")), "later"]);
    expect((await collected()).objects.filter((one: Found) => one.id === name)).toMatchObject([{ kind: "cgroup", outcome: "removed" }]);
    expect(directories()).toEqual([]);
    await ok(["--root", here, "delete", "--force", "later"]);
  });

  test("what lives is shown and left alone, and goes once it has ended", async () => {
    const name = await run();
    const { pid } = JSON.parse(await ok(["state", name]));
    loseState(name);
    expect(await gc()).toMatchObject([{ kind: "cgroup", id: name, outcome: "kept", processes: [pid] }]);
    expect(await ok(["gc", "--yes"])).toContain(`its state is lost, but processes of it live: ${pid}\n`);
    expect(directories()).toHaveLength(hierarchies.length);
    process.kill(pid, "SIGKILL");
    await expect.poll(async () => (await gc())[0]?.outcome).toBe("removed");
    expect(directories()).toEqual([]);
  });

  test("containers that have a state are nobody's remains: created, running, paused, stopped", async () => {
    const names = [id(), await run(), "", ""];
    place += "-created";
    await ok(["create", "-b", prepared(), names[0]!]);
    place += "-paused";
    names[2] = await run();
    await ok(["pause", names[2]!]);
    place += "-stopped";
    names[3] = await run();
    await stop(names[3]!);
    expect(await gc()).toEqual([]);
    const status = async (name: string) => JSON.parse(await ok(["state", name])).status;
    expect(await Promise.all(names.map(status))).toEqual(["created", "running", "paused", "stopped"]);
  });

  test("a container of another state root is named and left alone", async () => {
    const other = join(directory, "other-root");
    const name = id();
    await ok(["--root", other, "run", "--detach", "-b", prepared(), name]);
    const { pid } = JSON.parse(await ok(["--root", other, "state", name]));
    process.kill(pid, "SIGKILL");
    await expect.poll(async () => JSON.parse(await ok(["--root", other, "state", name])).status).toBe("stopped");
    expect(await gc()).toEqual([]);
    expect(JSON.parse(await ok(["gc", "--yes", "-f", "json"])).otherRoots).toContain(other);
    expect(await ok(["gc", "--yes"])).toContain(`not looked at: containers of runt --root ${other}\n`);
    expect(directories()).toHaveLength(hierarchies.length);
    await ok(["--root", other, "delete", name]);
    rmSync(other, { recursive: true });
  });

  test("cgroups of others stay: beside, above, and those that a container was given", async () => {
    const given = hierarchies.map((hierarchy) => hierarchy + place);
    const beside = given.map((path) => `${path}-beside`);
    for (const path of [...given.slice(0, 1), ...beside]) mkdirSync(path, { recursive: true });
    const above = given.map((path) => path.slice(0, path.lastIndexOf("/")));
    try {
      const name = await run();
      await stop(name);
      loseState(name);
      const [removed] = await gc();
      // On v2 the container has made no directory, so it has marked none.
      if (isUnified) expect(removed).toBeUndefined();
      else expect(removed).toMatchObject({ id: name, paths: given.slice(1), outcome: "removed" });
      expect(directories()).toEqual(given.slice(0, 1));
      expect(beside.every((path) => existsSync(path))).toBe(true);
      expect(await gc()).toEqual([]);
    } finally {
      for (const path of [...given.slice(0, 1), ...beside]) rmdirSync(path);
      for (const path of above) {
        rmdirSync(path);
        rmdirSync(path.slice(0, path.lastIndexOf("/")));
      }
    }
  });

  test("empty levels that runt has made go, and those of others stay", async () => {
    const name = await run();
    await stop(name);
    // As by a delete that was killed between the container's directory and the levels above.
    const made = directories();
    const above = (path: string) => path.slice(0, path.lastIndexOf("/"));
    const levels = made.map(above);
    mkdirSync(`${levels[0]}/somebody`);
    for (const path of made) rmdirSync(path);
    loseState(name);
    // A gc that somebody else calls may be quicker.
    const empty = levels.slice(1).flatMap((path) => [path, above(path)]);
    const found = (await gc("--dry-run")).map(({ kind, paths }) => `${kind} ${paths.join()}`);
    expect(empty.map((path) => `level ${path}`)).toEqual(expect.arrayContaining(found));
    expect(found).toEqual(expect.arrayContaining(empty.filter((path) => existsSync(path)).map((path) => `level ${path}`)));
    expect((await gc()).map(({ outcome }) => outcome)).not.toContain("failed");
    expect(levels.filter((path) => existsSync(path))).toEqual(levels.slice(0, 1));
    rmdirSync(`${levels[0]}/somebody`);
    expect((await gc()).map(({ outcome }) => outcome)).not.toContain("failed");
    expect(directories(CGROUP_PARENT)).toEqual([]);
  });

  // A hook outlives a runtime that was killed.
  afterEach(() => {
    for (const name of readdirSync(directory)) if (name.startsWith("hook-")) rmSync(join(directory, name));
  });

  /** A create that waits in a hook until it is killed. */
  async function hangingCreate(): Promise<{ name: string; child: ChildProcess; ended: Promise<unknown> }> {
    const name = id();
    const reached = join(directory, `hook-${name}`);
    const path = prepared((config) => {
      config["hooks"] = {
        createRuntime: [{ path: "/bin/sh", args: ["sh", "-c", `touch ${reached}; while [ -e ${reached} ]; do sleep 0.1; done`] }],
      };
    });
    let child!: ChildProcess;
    const ended = runtime(["create", "-b", path, name], {
      started: (started) => {
        child = started;
      },
    });
    await expect.poll(() => existsSync(reached)).toBe(true);
    return { name, child, ended };
  }

  test("a create under way is not disturbed; once it is killed its remains go", async () => {
    const { name, child, ended } = await hangingCreate();
    expect(await gc()).toEqual([]);
    expect(JSON.parse(await ok(["state", name])).status).toBe("creating");
    child.kill("SIGKILL");
    await ended;
    await expect
      .poll(async () => (await gc("--dry-run"))[0])
      .toMatchObject({
        kind: "state",
        id: name,
        outcome: "found",
        reason: "its create ended half-way",
      });
    expect(directories()).toHaveLength(hierarchies.length);
    expect(await gc()).toMatchObject([{ kind: "state", id: name, outcome: "removed" }]);
    expect([existsSync(join(root, name)), directories()]).toEqual([false, []]);
  });

  test("a directory without a record goes; one whose record cannot be read stays", async () => {
    const [empty, half, damaged, newer] = [id(), id(), id(), id()];
    for (const name of [empty, half, damaged, newer]) mkdirSync(join(root, name), { recursive: true });
    writeFileSync(join(root, half, "state.json.new"), "{");
    writeFileSync(join(root, damaged, "state.json"), "{");
    writeFileSync(join(root, newer, "state.json"), JSON.stringify({ schema: 99, minor: 0 }));
    const outcomes = (found: readonly Found[]) => Object.fromEntries(found.map(({ id: name, outcome }) => [name, outcome]));
    expect(outcomes(await gc("--dry-run"))).toEqual({ [empty]: "found", [half]: "found", [damaged]: "kept", [newer]: "kept" });
    expect(outcomes(await gc())).toEqual({ [empty]: "removed", [half]: "removed", [damaged]: "kept", [newer]: "kept" });
    expect([empty, half, damaged, newer].map((name) => existsSync(join(root, name)))).toEqual([false, false, true, true]);
    rmSync(join(root, newer), { recursive: true });
  });

  test("half-written files of the filter cache go, unless their writer lives", async () => {
    const cache = join(root, "@cache/seccomp");
    mkdirSync(cache, { recursive: true, mode: 0o700 });
    const dead = Number(readFileSync("/proc/sys/kernel/pid_max", "utf8")) + 1;
    const names = ["a", "a.json", `b.${process.pid}`, `b.json.${dead}`];
    for (const name of names) writeFileSync(join(cache, name), "");
    expect(await gc()).toEqual([{ kind: "cache", paths: [join(cache, names[3]!)], outcome: "removed", reason: "half-written" }]);
    expect(readdirSync(cache).sort()).toEqual(names.slice(0, 3));
    for (const name of names.slice(0, 3)) unlinkSync(join(cache, name));
  });

  test("containers come and go while it runs", async () => {
    // Each round has something to look at twice.
    const other = () => mkdirSync(join(root, id()), { recursive: true });
    place += "-busy";
    let rounds = 0;
    const collector = (async () => {
      while (rounds++ < 4) {
        other();
        await gc();
      }
    })();
    const work = async (worker: number) => {
      const path = bundle((config) => {
        shell(config, "true");
        config.linux.cgroupsPath = `${place}/deeper/${worker}`;
      });
      while (rounds < 4) await ok(["run", "-b", path, `gc-${process.pid}-${worker}`]);
    };
    try {
      await Promise.all([1, 2, 3].map(work));
    } finally {
      rounds = 4;
      await collector;
    }
    expect(directories()).toEqual([]);
  });

  test("what cannot be removed is an error", async () => {
    const name = await run();
    await stop(name);
    loseState(name);
    const readOnly = hierarchies.map((hierarchy) => `mount -o remount,bind,ro ${hierarchy}`).join(" && ");
    const words = ["unshare", "--mount", "--propagation", "private", "sh", "-c", `${readOnly} && exec "$@"`, "sh"];
    const { status, stdout, stderr } = await call(directory, [...words, RUNTIME, "--root", root, "gc", "--yes"]);
    expect([status, stderr]).toEqual([1, expect.stringMatching(/^runt: cannot remove .*: read-only file system/)]);
    expect(stdout).toMatch(new RegExp(`failed +cgroup +${name} `));
    expect(await gc()).toMatchObject([{ id: name, outcome: "removed" }]);
  });

  test("a format that it does not have", async () => {
    const { status, stderr } = await runtime(["gc", "-f", "yaml"]);
    expect([status, stderr]).toEqual([1, 'runt: invalid format "yaml": use text or json\n']);
  });
});
