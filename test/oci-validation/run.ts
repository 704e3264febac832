/** Run one validation program, and remove what it leaves. */
import { execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { cgroupsBelow, removeCgroups } from "../conformance/cgroups.ts";
import { processesOf } from "../conformance/leaks.ts";
import { parseMountinfo } from "../conformance/observe.ts";
import type { Output } from "./tap.ts";

/** Names of cgroups that stand in the programs. */
const CGROUPS = ["/cgrouptest", "/testdir"];

export interface Place {
  /** Working directory of the programs. */
  readonly directory: string;
  readonly runtime: string;
  readonly limitMs: number;
}

/** The runtime gets a state directory of its own, and the program a temporary directory: both are gone afterwards. */
export async function runProgram(program: string, { directory, runtime, limitMs }: Place): Promise<Output> {
  const scratch = mkdtempSync("/tmp/runt-oci-validation-");
  const root = join(scratch, "root");
  const wrapper = join(scratch, "runtime");
  const temporary = join(scratch, "tmp");
  // The root of a user namespace has to get to the bundles.
  chmodSync(scratch, 0o711);
  mkdirSync(temporary, { mode: 0o755 });
  writeFileSync(wrapper, `#!/bin/sh\nexec '${runtime}' --root '${root}' "$@"\n`, { mode: 0o755 });
  const foreign = CGROUPS.filter((path) => cgroupsBelow(path).length > 0);
  try {
    const [stdout, stderr] = [join(scratch, "stdout"), join(scratch, "stderr")];
    const environment = { ...process.env, RUNTIME: wrapper, TMPDIR: temporary };
    const status = await runFor(limitMs, program, directory, environment, [stdout, stderr]);
    return { status, stdout: readFileSync(stdout, "utf8"), stderr: readFileSync(stderr, "utf8") };
  } finally {
    await removeContainers(wrapper, root);
    endProcesses(scratch);
    unmountBelow(scratch);
    for (const path of CGROUPS.filter((name) => !foreign.includes(name))) removeCgroups(path);
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Exit status; undefined when it was killed because its time was up. */
async function runFor(
  limitMs: number,
  program: string,
  cwd: string,
  env: NodeJS.ProcessEnv,
  outputs: readonly [stdout: string, stderr: string],
): Promise<number | undefined> {
  const files = outputs.map((path) => openSync(path, "w"));
  try {
    // A group of its own, so that what the program has started goes with it.
    const child = spawn(program, [], { cwd, env, stdio: ["ignore", ...files], detached: true });
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    }, limitMs);
    const status = await new Promise<number>((done, failed) => {
      child.on("error", failed);
      child.on("exit", (code) => done(code ?? 255));
    });
    clearTimeout(timer);
    return isLate ? undefined : status;
  } finally {
    for (const file of files) closeSync(file);
  }
}

async function removeContainers(wrapper: string, root: string): Promise<void> {
  const ids = existsSync(root) ? readdirSync(root).filter((name) => !name.startsWith("@")) : [];
  for (const id of ids) {
    const child = spawn(wrapper, ["delete", "--force", id], { stdio: "ignore" });
    await new Promise((done) => child.on("exit", done));
  }
}

/** Whatever still stands on the program's directory: a container whose state is lost. */
function endProcesses(scratch: string): void {
  for (const line of processesOf(scratch, "/no cgroup has this name/")) {
    const pid = Number(line.split(" ")[1]);
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has ended meanwhile.
    }
  }
}

/** A container without a mount namespace of its own mounts in this one. Throws if anything stays: removing the directory would reach into it. */
function unmountBelow(scratch: string): void {
  const targets = () =>
    parseMountinfo(readFileSync("/proc/self/mountinfo", "utf8"))
      .map(({ target }) => target)
      .filter((target) => target.startsWith(`${scratch}/`));
  for (const target of targets().reverse()) execFileSync("umount", ["-l", target]);
  if (targets().length > 0) throw new Error(`still mounted: ${targets().join(" ")}`);
}
