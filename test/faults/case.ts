/** One fault: the container before it, the verb that it strikes, what the verb says, and what delete --force leaves. */
import { existsSync, readFileSync, rmdirSync, rmSync } from "node:fs";
import { differences, type Snapshot, takeSnapshot, type Watched } from "../support/snapshot.ts";
import { startHanging, startOldMonitor, startStoppedRuntime, startVisitor, stopInit } from "./actors.ts";
import { type Companion, makeDevices, NETNS, startConsole } from "./companion.ts";
import { judgeAnswer } from "./judge.ts";
import { type Fault, type Point, readPoints } from "./point.ts";
import { isCache, isDevice, isHalfPidFile, isInRootfs, isPidFile, mayStay, withoutTime } from "./remains.ts";
import type { Scenario } from "./scenario.ts";
import { attempt, until } from "./wait.ts";
import * as world from "./world.ts";

const { ID } = world;

/** Status of what SIGKILL has ended. */
const KILLED = 137;

export interface CaseResult {
  readonly problems: readonly string[];
  /** The run took another way and never came to the point. */
  readonly missed: boolean;
}

export class Cases {
  readonly #scenario: Scenario;
  readonly #watched: Watched;
  readonly #cgroup: string;
  /** Differences that an undisturbed container leaves: mount targets made in its root file system, and devices in a namespace. */
  #left: ReadonlySet<string> = new Set();

  constructor(scenario: Scenario, watched: Watched, cgroup: string) {
    this.#scenario = scenario;
    this.#watched = watched;
    this.#cgroup = cgroup;
    world.makeRootfs(scenario.owner ?? 0);
    world.writeBundle(cgroup, (config) => scenario.config?.(config, { volume: world.VOLUME, netns: NETNS }));
  }

  /** Without a fault. @throws if the verb fails or anything but mount targets is left */
  points(): Point[] {
    // Once for what stays for all containers: the cache of filters.
    this.#reset(this.#whole());
    const left = this.#whole();
    const more = left.filter((line) => !mayStay(line));
    if (more.length > 0) throw new Error(`${this.#scenario.name}: left by an undisturbed container:\n${more.join("\n")}`);
    this.#left = new Set(left.map(withoutTime));
    this.#reset(left);
    return readPoints(world.POINTS);
  }

  /** Everything once, undisturbed; what is left. */
  #whole(): string[] {
    const companion = this.#prepare();
    const before = takeSnapshot(this.#watched);
    try {
      this.#setUp();
      companion?.enter?.();
      const answer = this.#act({});
      const { status, stderr } = answer;
      if ((status !== 0) !== (this.#scenario.fails === true)) throw new Error(`${this.#scenario.name}: status ${status}: ${stderr}`);
      if (this.#isCreated(status)) this.#start();
      const problems = companion?.struck?.(answer) ?? [];
      problems.push(...deleteByForce(companion), ...(companion?.deleted?.() ?? []));
      if (problems.length > 0) throw new Error(`${this.#scenario.name}: ${problems.join("; ")}`);
      return differences(before, this.#settled(before)).filter((line) => !isCache(line));
    } finally {
      companion?.end();
    }
  }

  /** `forget`: without the delete at the end. */
  run(fault: Fault, forget = false): CaseResult {
    const companion = this.#prepare();
    const before = takeSnapshot(this.#watched);
    try {
      return this.#strike(fault, before, forget, companion);
    } finally {
      companion?.end();
    }
  }

  #strike(fault: Fault, before: Snapshot, forget: boolean, companion?: Companion): CaseResult {
    const problems: string[] = [];
    this.#setUp();
    companion?.enter?.();
    const { process, number } = fault.point;
    const answer = this.#act({ RUNT_FAULT: `${process}:${number}:${fault.action}` });
    problems.push(...this.#judge(fault, answer));
    const finished = this.#scenario.needs !== "devices" || isFinished();
    problems.push(...(companion?.struck?.(answer) ?? []));
    if (!forget) problems.push(...deleteByForce(companion), ...(companion?.deleted?.() ?? []));
    const after = this.#settled(before);
    const all = differences(before, after).filter((line) => !isCache(line));
    const left = all.filter((line) => {
      if (isPidFile(line)) return isHalfPidFile(line) && answer.status !== KILLED;
      return !this.#left.has(withoutTime(line)) || (isDevice(line) && !finished);
    });
    problems.push(...left.map((line) => `left behind: ${line}`));
    this.#cleanUp(left);
    this.#reset(all);
    return { problems, missed: !this.#passed().some((line) => line.startsWith(`${fault.point.process} ${fault.point.number} `)) };
  }

  #judge(fault: Fault, answer: world.Answer): string[] {
    const { survives, undoes, gives } = this.#scenario;
    const passed = this.#passed();
    // How far a helper got that was dropped differs, and with it the numbers of what comes then.
    const { point } = fault;
    const [when = "", what = ""] = point.name.split(" ");
    const prefix = `${point.process} ${point.number} `;
    const name = passed.find((line) => line.startsWith(prefix))?.slice(prefix.length);
    const hit = `${name} `.startsWith(`${when} ${what} `);
    const struck = name === undefined ? fault : { ...fault, point: { ...point, name } };
    const problems = hit || answer.status !== 0 ? judgeAnswer(this.#scenario, struck, answer, passed) : [];
    if (undoes && answer.status !== 0 && answer.status !== KILLED && existsSync(`${world.ROOT}/${ID}`))
      problems.push("the failed verb leaves a container");
    if (gives && answer.status === 0 && !until(() => statusOf() === gives)) problems.push(`status 0, and the container is ${statusOf()}`);
    if (survives) problems.push(...this.#judgeSurvivor(survives, answer.status));
    if (this.#isCreated(answer.status)) problems.push(...this.#judgeStart(fault));
    return problems;
  }

  #isCreated(status: number): boolean {
    return status === 0 && this.#scenario.verb[0] === "create";
  }

  #judgeSurvivor(wanted: string, status: number): string[] {
    const state = world.product("state", ID);
    const found = state.status === 0 ? JSON.parse(state.stdout).status : state.stderr.trim();
    if (found !== wanted) return [`the container is no longer ${wanted}: ${found}`];
    if (status === 0 || status === KILLED) return [];
    // Its init, and the hook that it waits for.
    const own = this.#scenario.needs === "hanging-start" ? 2 : 1;
    const alone = () => JSON.parse(world.product("ps", "-f", "json", ID).stdout || "[]").length === own;
    return until(alone) ? [] : ["the failed verb leaves a process in the container"];
  }

  /** init may have failed behind create's back: then it is start that says so. */
  #judgeStart({ point, action }: Fault): string[] {
    const answer = this.#start();
    if (answer.hangs) return ["start hangs"];
    // A program that has ended at once looks the same.
    if (point.process !== "init" || action === "kill" || answer.status !== 0) return [];
    // An init that was cloned early and did not fit may have had the fault, or nothing: the container's own came here after it.
    const [when = "", what = ""] = point.name.split(" ");
    const last = this.#passed().findLast((line) => line.startsWith(`init ${point.number} `));
    const hit = `${last} `.startsWith(`init ${point.number} ${when} ${what} `);
    return hit ? ["start says nothing of init's failure"] : [];
  }

  #start(): world.Answer {
    return world.tested(["start", ID]);
  }

  #prepare(): Companion | undefined {
    if (this.#scenario.cold) rmSync(`${world.ROOT}/@cache`, { recursive: true, force: true });
    const { needs, verb } = this.#scenario;
    switch (needs) {
      case "console":
        return startConsole();
      case "devices":
        return makeDevices();
      case "visitor":
        return startVisitor(this.#cgroup, verb[0] === "create");
      case "old-monitor":
        return startOldMonitor(verb[0] === "delete");
      case "stopped-runtime":
      case "stopped-create":
        return startStoppedRuntime(needs === "stopped-create", verb[0] === "delete");
      case "stopped-init":
        return stopInit();
      case "hanging-start":
        return startHanging();
      default:
        return undefined;
    }
  }

  #setUp(): void {
    for (const verb of this.#scenario.before ?? []) {
      const { status, stderr } = world.product(...verb.map(word));
      const wanted = this.#scenario.orphaned ? KILLED : 0;
      if (status !== wanted) throw new Error(`${verb.join(" ")}: status ${status}: ${stderr}`);
    }
    if (this.#scenario.stopped) until(() => JSON.parse(world.product("state", ID).stdout).status === "stopped");
  }

  #act(env: Readonly<Record<string, string>>): world.Answer {
    rmSync(world.POINTS, { force: true });
    const { uncounted = "", verb } = this.#scenario;
    return world.tested(verb.map(word), { ...env, RUNT_FAULT_LOG: world.POINTS, RUNT_FAULT_UNCOUNTED: uncounted });
  }

  #passed(): string[] {
    return existsSync(world.POINTS) ? readFileSync(world.POINTS, "utf8").split("\n") : [];
  }

  #settled(before: Snapshot): Snapshot {
    let after = takeSnapshot(this.#watched);
    until(() => {
      after = takeSnapshot(this.#watched);
      return differences(before, after).every(mayStay);
    });
    return after;
  }

  /** So that the next case starts as this one did. */
  #reset(left: readonly string[]): void {
    for (const name of ["pid", ".pid"]) rmSync(`/tmp/world/${name}`, { force: true });
    const made = left.filter(isInRootfs).map((line) => line.split(" ")[2]!);
    for (const path of made) rmSync(path, { recursive: true, force: true });
  }

  #cleanUp(left: readonly string[]): void {
    for (const line of left) {
      const [, pid] = /^\+ process (\d+) /.exec(line) ?? [];
      if (pid !== undefined) attempt(() => process.kill(Number(pid), "SIGKILL"));
    }
    const cgroups = left.flatMap((line) => /^\+ cgroup (.*)$/.exec(line)?.[1] ?? []);
    for (const path of cgroups.toSorted((a, b) => b.length - a.length)) until(() => attempt(() => rmdirSync(path)) || !existsSync(path));
    rmSync(`${world.ROOT}/${ID}`, { recursive: true, force: true });
  }
}

/** By runtime-spec's words; "gone": there is none. */
function statusOf(): string {
  const { status, stdout, stderr } = world.product("state", ID);
  if (status === 0) return JSON.parse(stdout).status;
  return stderr.includes("does not exist") ? "gone" : stderr.trim();
}

/** There is a container, whatever has become of the verb afterwards. */
function isFinished(): boolean {
  const { status, stdout } = world.product("state", ID);
  return status === 0 && JSON.parse(stdout).status !== "creating";
}

function deleteByForce(companion: Companion | undefined): string[] {
  const { hangs, status, stderr } = world.product("delete", "--force", ID);
  if (hangs) return ["delete --force hangs"];
  return status === 0 && (stderr === "" || companion?.explains?.(stderr)) ? [] : [`delete --force: status ${status}: ${stderr.trim()}`];
}

const WORDS: Readonly<Record<string, string>> = { ID, BUNDLE: world.BUNDLE, SOCKET: world.SOCKET, MOUNTS: world.MOUNTS };

function word(text: string): string {
  return WORDS[text] ?? text;
}
