/** In a cgroup that is not the container's own no process is signalled, frozen or thawed. A process of somebody else lives there before and after. */
import type { ChildProcess } from "node:child_process";
import { existsSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { isUnified } from "../support/cgroups.ts";
import type { Config } from "../support/config.ts";
import { call, isRoot, isRunt, RUNTIME, shell, useHarness } from "../support/harness.ts";
import { CGROUP_PARENT } from "../support/leaks.ts";
import { directoriesOf, enter, HIERARCHIES, isAlive, makeCgroup, useWitnesses } from "../support/witness.ts";

describe.skipIf(!isRoot || !isRunt)("somebody else in the container's cgroup (needs root)", () => {
  const { bundle, directory, id, ok, root, runtime, until } = useHarness();
  const { witness, premade } = useWitnesses();
  let place = "";
  let count = 0;
  beforeEach(() => {
    place = `${CGROUP_PARENT}/foreign${++count}`;
  });

  const prepared = (change: (config: Config) => void = () => {}, command = "sleep 1000 & exec sleep 1000") =>
    bundle((config) => {
      shell(config, command);
      config.linux.cgroupsPath = place;
      change(config);
    });
  const withoutPidNamespace = (config: Config) => {
    config.linux.namespaces = config.linux.namespaces.filter(({ type }) => type !== "pid");
  };
  const pidOf = async (name: string): Promise<number> => JSON.parse(await ok(["state", name])).pid;
  const recordOf = (name: string) => JSON.parse(readFileSync(join(root, name, "state.json"), "utf8"));
  const alone = (name: string, ...pids: readonly number[]) =>
    `runt: warning: container ${name}: in its cgroup, but not known to be its own, and left alone: ` +
    `process${pids.length > 1 ? "es" : ""} ${pids.join(" ")}\n`;

  async function gc(name: string) {
    const { objects } = JSON.parse(await ok(["gc", "--yes", "--format", "json"]));
    return objects.filter((found: { id?: string }) => found.id === name);
  }

  async function run(change?: (config: Config) => void, command?: string): Promise<string> {
    const name = id();
    await ok(["run", "--detach", "-b", prepared(change, command), name]);
    return name;
  }

  /** A create that was killed in a hook, when its record and its cgroup are there; its init has ended. */
  async function killedCreate(): Promise<string> {
    const name = id();
    const reached = join(directory, `hook-${name}`);
    const path = prepared((config) => {
      config["hooks"] = {
        createRuntime: [
          {
            path: "/bin/sh",
            args: ["sh", "-c", `cat >${reached}.new; mv ${reached}.new ${reached}; while [ -e ${reached} ]; do sleep 0.1; done`],
          },
        ],
      };
    });
    let child!: ChildProcess;
    const ended = runtime(["create", "-b", path, name], {
      started: (started) => {
        child = started;
      },
    });
    await expect.poll(() => existsSync(reached)).toBe(true);
    child.kill("SIGKILL");
    await ended;
    const { pid } = JSON.parse(readFileSync(reached, "utf8"));
    // The hook outlives a runtime that was killed: it ends now.
    rmSync(reached);
    await expect.poll(() => isAlive(pid)).toBe(false);
    expect(recordOf(name).phase).toBe("creating");
    return name;
  }

  /** As if the create had been killed before it made them, or an operator had removed them: then they are somebody else's. */
  function remake(): void {
    for (const path of directoriesOf(place)) rmdirSync(path);
    premade(place);
  }

  test.each([
    ["that was there before", () => premade(place), () => {}],
    ["that somebody else has made since", () => {}, remake],
  ] as const)("a create was killed, and a service runs in a cgroup %s: gc and delete --force leave it alone", async (_, before, after) => {
    for (const collect of [true, false]) {
      before();
      const name = await killedCreate();
      after();
      const service = witness(place);
      const said = collect ? await gc(name) : await runtime(["delete", "--force", name]);
      expect(isAlive(service)).toBe(true);
      if (collect) expect(said).toMatchObject([{ kind: "state", outcome: "removed", processes: [service] }]);
      else expect(said).toEqual({ status: 0, stdout: "", stderr: alone(name, service) });
      expect([existsSync(join(root, name)), directoriesOf(place).length]).toEqual([false, HIERARCHIES.length]);
      process.kill(service, "SIGKILL");
      await expect.poll(() => isAlive(service)).toBe(false);
    }
  });

  test.skipIf(isUnified)("a create was killed, and a service runs in one of its hierarchies only", async () => {
    const name = await killedCreate();
    const pids = HIERARCHIES.filter((path) => path.endsWith("/pids"));
    for (const hierarchy of pids) rmdirSync(hierarchy + place);
    premade(place, pids);
    const service = witness(place, pids);
    const said = await runtime(["delete", "--force", name]);
    expect([isAlive(service), directoriesOf(place)]).toEqual([true, pids.map((hierarchy) => hierarchy + place)]);
    expect(said).toEqual({ status: 0, stdout: "", stderr: alone(name, service) });
  });

  test("a create that fails leaves a service alone that came into its cgroup meanwhile", async () => {
    premade(place);
    const name = id();
    const note = join(directory, `service-${name}`);
    const enterAll = HIERARCHIES.map((hierarchy) => `echo $! >${hierarchy}${place}/cgroup.procs`).join("; ");
    const path = prepared((config) => {
      const script = `setsid sleep 1000 </dev/null >/dev/null 2>&1 & echo $! >${note}; ${enterAll}; exit 7`;
      config["hooks"] = { createRuntime: [{ path: "/bin/sh", args: ["sh", "-c", script] }] };
    });
    const { status, stderr } = await runtime(["create", "-b", path, name]);
    const service = Number(readFileSync(note, "utf8"));
    try {
      expect([isAlive(service), existsSync(join(root, name))]).toEqual([true, false]);
      expect([status, stderr]).toEqual([1, expect.stringContaining(alone(name, service))]);
    } finally {
      if (isAlive(service)) process.kill(service, "SIGKILL");
    }
  });

  test.each([
    ["with a PID namespace", () => {}],
    ["without one", withoutPidNamespace],
  ] as const)("kill --all in a cgroup that was there before is for init alone, %s", async (_, change) => {
    premade(place);
    const name = await run(change, "trap 'echo got >/dev/pts/none' USR1; while :; do sleep 0.05; done");
    const service = witness(place);
    const asked = await runtime(["kill", "--all", name, "USR1"]);
    expect(isAlive(service)).toBe(true);
    expect([asked.status, asked.stderr]).toEqual([0, expect.stringContaining("left alone: process")]);
    expect(asked.stderr).toMatch(new RegExp(`\\b${service}\\b`));
    const pid = await pidOf(name);
    const killed = await runtime(["kill", "--all", name, "KILL"]);
    expect([killed.status, killed.stderr]).toEqual([0, expect.stringContaining(String(service))]);
    await until(name, "stopped");
    expect([isAlive(service), isAlive(pid)]).toEqual([true, false]);
  });

  test("kill KILL without a PID namespace, and delete --force, leave who is in a cgroup that was there before", async () => {
    premade(place);
    const first = await run(withoutPidNamespace, "exec sleep 1000");
    const service = witness(place);
    const killed = await runtime(["kill", first, "KILL"]);
    expect(isAlive(service)).toBe(true);
    expect(killed).toEqual({ status: 0, stdout: "", stderr: alone(first, service) });
    await until(first, "stopped");
    expect(await runtime(["delete", first])).toEqual({ status: 0, stdout: "", stderr: alone(first, service) });
    process.kill(service, "SIGKILL");
    await expect.poll(() => isAlive(service)).toBe(false);
    const second = await run(undefined, "exec sleep 1000");
    const other = witness(place);
    const deleted = await runtime(["delete", "--force", second]);
    expect([isAlive(other), existsSync(join(root, second)), directoriesOf(place).length]).toEqual([true, false, HIERARCHIES.length]);
    expect(deleted).toEqual({ status: 0, stdout: "", stderr: alone(second, other) });
  });

  test("whose create was killed does not end another container that has its cgroup by now", async () => {
    const first = await killedCreate();
    const other = await run();
    expect((await runtime(["kill", "--all", first, "KILL"])).stderr).toContain("left alone");
    expect((await runtime(["delete", "--force", first])).status).toBe(0);
    expect(JSON.parse(await ok(["state", other])).status).toBe("running");
    await ok(["delete", "--force", other]);
    await ok(["gc", "--yes"]);
    expect(directoriesOf(place)).toEqual([]);
  });

  test("a start that fails in a hook leaves who is in a cgroup that was there before", async () => {
    premade(place);
    const name = id();
    await ok(["create", "-b", prepared((config) => Object.assign(config, { hooks: { poststart: [{ path: "/bin/false" }] } })), name], {});
    const service = witness(place);
    const { status, stderr } = await runtime(["start", name]);
    expect([isAlive(service), existsSync(join(root, name))]).toEqual([true, false]);
    expect([status, stderr]).toEqual([1, expect.stringContaining(alone(name, service))]);
  });

  test("what a container made itself is all killed, without a PID namespace, too", async () => {
    const name = await run(withoutPidNamespace);
    await expect.poll(async () => JSON.parse(await ok(["ps", "-f", "json", name])).length).toBe(2);
    const pids: number[] = JSON.parse(await ok(["ps", "-f", "json", name]));
    expect(await runtime(["delete", "--force", name])).toEqual({ status: 0, stdout: "", stderr: "" });
    expect([pids.filter(isAlive), directoriesOf(place)]).toEqual([[], []]);
  });

  test("what init has left behind is killed by the mark, when init is gone", async () => {
    const name = await run(withoutPidNamespace, "sleep 1000 & sleep 0.2");
    await until(name, "stopped");
    const pids: number[] = JSON.parse(await ok(["ps", "-f", "json", name]));
    expect(pids).toHaveLength(1);
    expect(await runtime(["delete", name])).toEqual({ status: 0, stdout: "", stderr: "" });
    expect([pids.filter(isAlive), directoriesOf(place)]).toEqual([[], []]);
  });

  test("another container has the cgroup now: the one that had it before is deleted, and the new one runs on", async () => {
    const old = await run(withoutPidNamespace, "exec sleep 1000");
    await ok(["kill", old, "KILL"]);
    await until(old, "stopped");
    for (const path of directoriesOf(place)) rmdirSync(path);
    const name = await run();
    const pid = await pidOf(name);
    expect((await runtime(["delete", "--force", old])).status).toBe(0);
    expect([isAlive(pid), directoriesOf(place).length, existsSync(join(root, old))]).toEqual([true, HIERARCHIES.length, false]);
  });

  test("another container has the cgroup of one that lives: neither is paused, changed or joined for the other", async () => {
    const old = await run(undefined, "exec sleep 1000");
    const elsewhere = premade(`${place}-elsewhere`);
    enter(elsewhere, await pidOf(old));
    for (const path of directoriesOf(place)) rmdirSync(path);
    const name = await run(undefined, "exec sleep 1000");
    const pid = await pidOf(name);
    const statusOf = async (one: string): Promise<string> => JSON.parse(await ok(["state", one])).status;
    const processes = () => directoriesOf(place).map((path) => readFileSync(`${path}/cgroup.procs`, "utf8"));
    for (const words of [["pause"], ["update", "--pids-limit", "77"], ["exec", "-d"]] as const) {
      const { status, stderr } = await runtime([...words, old, ...(words[0] === "exec" ? ["sleep", "1000"] : [])]);
      expect(status).not.toBe(0);
      expect(stderr).toContain("is another container's by now");
    }
    expect(processes()).toEqual(directoriesOf(place).map(() => `${pid}\n`));
    const limits = directoriesOf(place).filter((path) => existsSync(`${path}/pids.max`));
    for (const path of limits) expect(readFileSync(`${path}/pids.max`, "utf8")).not.toBe("77\n");
    expect(await statusOf(name)).toBe("running");
    await ok(["pause", name]);
    expect([await statusOf(old), await statusOf(name)]).toEqual(["running", "paused"]);
    const listed: { id: string; status: string }[] = JSON.parse(await ok(["list", "-f", "json"]));
    expect(listed.filter(({ id }) => id === old).map(({ status }) => status)).toEqual(["running"]);
    expect((await runtime(["resume", old])).stderr).toContain("container not paused");
    expect(await statusOf(name)).toBe("paused");
    await ok(["resume", name]);
    await ok(["delete", "--force", old]);
    expect(isAlive(pid)).toBe(true);
  });

  test("whoever calls from within the container's cgroup is not signalled", async () => {
    const name = await run(undefined, "exec sleep 1000");
    const enterAll = directoriesOf(place).map((path) => `echo $$ >${path}/cgroup.procs`);
    const script = [...enterAll, `${RUNTIME} --root ${root} kill --all ${name} TERM`, "echo lives"].join("; ");
    const { stdout, stderr } = await call(directory, ["sh", "-c", script]);
    expect([stdout, stderr]).toEqual(["lives\n", expect.stringContaining("left alone: process")]);
    expect(await runtime(["delete", "--force", name])).toMatchObject({ status: 0, stderr: "" });
  });

  test.skipIf(isUnified)("who is frozen with a paused container stays frozen, and the container waits for resume", async () => {
    premade(place);
    const name = await run(undefined, "exec sleep 1000");
    const service = witness(place);
    await ok(["pause", name]);
    const { status, stderr } = await runtime(["delete", "--force", name]);
    expect([status, stderr]).toEqual([1, expect.stringMatching(/frozen with others in a cgroup that is not the container's.*resume/s)]);
    const [freezer = ""] = directoriesOf(place).filter((path) => path.includes("/freezer/"));
    expect(readFileSync(`${freezer}/freezer.state`, "utf8")).toBe("FROZEN\n");
    writeFileSync(`${freezer}/freezer.state`, "THAWED");
    expect(await runtime(["delete", "--force", name])).toEqual({ status: 0, stdout: "", stderr: alone(name, service) });
  });

  test.skipIf(isUnified)("a paused container alone in a cgroup that was there before is thawed for its end", async () => {
    premade(place);
    const name = await run();
    await ok(["pause", name]);
    expect(await runtime(["delete", "--force", name])).toEqual({ status: 0, stdout: "", stderr: "" });
  });

  test("cgroups below one that was there before: empty ones go, another container's and those with somebody in them stay", async () => {
    premade(place);
    const name = await run();
    makeCgroup(`${place}/empty`);
    premade(`${place}/used`);
    const service = witness(`${place}/used`);
    const mine = place;
    place += "/other";
    const other = await run();
    place = mine;
    const pid = await pidOf(other);
    expect((await runtime(["delete", "--force", name])).status).toBe(0);
    expect([isAlive(service), isAlive(pid)]).toEqual([true, true]);
    expect([directoriesOf(`${place}/empty`), directoriesOf(`${place}/used`).length]).toEqual([[], HIERARCHIES.length]);
    await ok(["delete", "--force", other]);
  });
});
