/** The outer half of bench/engine-group.ts: it starts the inner one in namespaces of its own, and removes what that has left, also when it was killed. */
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mountHierarchies, removeCgroups } from "../test/support/hierarchies.ts";
import { outerMounts } from "../test/support/own-mounts.ts";
import { podsOf } from "./group-sides.ts";
import { removeCgroupParents } from "./namespace.ts";

/** The first process of a PID namespace gets those whose parents have ended. */
const REAPER = ["sh", "-c", '"$@"; exit $?', "sh"];

/** All processes of the inner half end with this one, whatever ends it. Returns the inner half's status. */
export async function outside(): Promise<number> {
  const self = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  const work = mkdtempSync(join(tmpdir(), "runt-bench-group-"));
  // The daemon makes its directory there, too.
  const env = { ...process.env, TMPDIR: work, ...outerMounts() };
  try {
    const namespaces = ["--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc", "--propagation", "private"];
    const command = ["--pdeathsig", "KILL", "--", "unshare", ...namespaces, "--", ...REAPER, ...self, "--inside", work];
    const child = spawn("setpriv", command, { stdio: "inherit", env });
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => child.kill("SIGKILL"));
    return await new Promise((done) => child.once("exit", (status) => done(status ?? 1)));
  } finally {
    // The mounts were the inner half's; cgroups are in hierarchies that the host may not have mounted.
    spawnSync("unshare", ["--mount", "--propagation", "private", "--", ...self, "--clean", work], { stdio: "inherit", env });
    rmSync(work, { recursive: true, force: true });
  }
}

/** Ends what is in the cgroups of this name and removes them, and those of pods. Returns those that are left. */
export async function cleanCgroups(work: string, name: string): Promise<string[]> {
  mountHierarchies(work);
  const left = await removeCgroupParents(name);
  return [...left, ...removeCgroups(podsOf(work))];
}
