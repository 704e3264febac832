/** A process and cgroups that belong to somebody else. No verb may touch them. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach } from "vitest";
import { CGROUPS, isUnified } from "./cgroups.ts";

/** Every hierarchy's root, that of v2 beside v1 included. */
export const HIERARCHIES = isUnified
  ? [CGROUPS]
  : readdirSync(CGROUPS)
      .map((name) => join(CGROUPS, name))
      .filter((path) => existsSync(`${path}/cgroup.procs`));

/** Makes the levels from the top, without runt's marks. */
export function makeCgroup(place: string, hierarchies = HIERARCHIES): void {
  for (const hierarchy of hierarchies) {
    mkdirSync(hierarchy + place, { recursive: true });
    const levels = place.split("/").filter(Boolean);
    // A new cpuset takes no process until it has values.
    for (const [index] of hierarchy.endsWith("/cpuset") ? levels.entries() : []) {
      const path = join(hierarchy, ...levels.slice(0, index + 1));
      for (const file of ["cpuset.cpus", "cpuset.mems"]) writeFileSync(join(path, file), readFileSync(join(path, "..", file)));
    }
  }
}

export function removeCgroup(place: string): void {
  for (const path of directoriesOf(place)) rmdirSync(path);
}

export function directoriesOf(place: string): string[] {
  return HIERARCHIES.map((hierarchy) => hierarchy + place).filter((path) => existsSync(path));
}

export function enter(place: string, pid: number, hierarchies = HIERARCHIES): void {
  for (const hierarchy of hierarchies) if (existsSync(hierarchy + place)) writeFileSync(`${hierarchy}${place}/cgroup.procs`, String(pid));
}

export function isAlive(pid: number): boolean {
  try {
    return !/^State:\s*[ZX]/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

/** Removes them after each test. */
export function useWitnesses() {
  let started: ChildProcess[] = [];
  let places: string[] = [];
  afterEach(async () => {
    for (const child of started) child.kill("SIGKILL");
    await Promise.all(
      started.map((child) => (child.exitCode ?? child.signalCode ?? "") !== "" || new Promise((done) => child.once("exit", done))),
    );
    started = [];
    for (const place of places.reverse()) {
      for (const path of directoriesOf(place)) await removeWhenEmpty(path);
    }
    places = [];
  });
  return {
    /** Pid of a process that lives in this cgroup. */
    witness(place: string, hierarchies = HIERARCHIES): number {
      const child = spawn("sleep", ["1000"], { stdio: "ignore" });
      started.push(child);
      enter(place, child.pid ?? 0, hierarchies);
      return child.pid ?? 0;
    },
    /** A cgroup of somebody else's. It is removed after the test. */
    premade(place: string, hierarchies = HIERARCHIES): string {
      makeCgroup(place, hierarchies);
      places.push(place);
      return place;
    },
  };
}

async function removeWhenEmpty(path: string): Promise<void> {
  for (let at = path, round = 0; round < 100; round++) {
    try {
      rmdirSync(at);
      at = at.slice(0, at.lastIndexOf("/"));
      if (!at.includes("runt-test")) return;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "ENOENT") at = at.slice(0, at.lastIndexOf("/"));
      else if (at !== path && code === "EBUSY") return;
      if (!at.includes("runt-test")) return;
      await sleep(20);
    }
  }
}
