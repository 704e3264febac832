/**
 * The post-mortem of a failure: one more sentence that names the culprit. Runs only after something has failed, only reads, and
 * never fails itself.
 */

import * as host from "../host/index.ts";
import type { Op, Plan } from "../plan/index.ts";
import { attempt, type ContainerRoot, find, type Init, isDirectory, openContainerRoot } from "./container-root.ts";
import { explainDenied, explainExecve, explainMissing, explainUnknownName, type User } from "./program.ts";

export interface Failure {
  /** The operation that failed, and the plan it is from. */
  readonly op: Op;
  readonly plan: Plan;
  /** "ENOENT". */
  readonly code: string;
  readonly path: string;
  readonly text: string;
}

/** `init`: it waits. `rootfs`: of the container on the host. */
export function diagnose(init: Init, rootfs: string, failure: Failure): string | undefined {
  return withContainerRoot(init, rootfs, (container) => explain(container, failure));
}

/** What execve(2) of a program has failed with. */
export function diagnoseExecve(init: Init, rootfs: string, program: string): string | undefined {
  return withContainerRoot(init, rootfs, (container) => explainExecve(container, program));
}

function withContainerRoot(init: Init, rootfs: string, action: (container: ContainerRoot) => string | undefined): string | undefined {
  const container = openContainerRoot(init, rootfs);
  if (container === undefined) return undefined;
  // Descriptors of what was looked at end with the process.
  return attempt(() => action(container));
}

function explain(container: ContainerRoot, { op, plan, code, path, text }: Failure): string | undefined {
  const user = userOf(plan);
  switch (op.op) {
    case "process.program":
      if (code === "ENOENT" || code === "ENOTDIR") {
        const { name } = op.args;
        return name.includes("/") ? explainMissing(container, name, op.args.path) : explainUnknownName(container, name, op.args.path);
      }
      return explainDenied(container, whichOf(container, op.args), user);
    case "process.exec":
      return explainExecve(container, path, user);
    case "process.cwd":
      return explainDirectory(container, op.args.path, user);
    case "directory.create":
      return op.from === "/process/cwd" ? explainDirectory(container, op.args.path, user) : undefined;
    case "process.user":
      return code === "EINVAL" ? explainUser(container, op.args, text) : undefined;
    default:
      return undefined;
  }
}

function userOf({ ops }: Plan): User | undefined {
  const op = ops.find((candidate) => candidate.op === "process.user");
  return op?.op === "process.user" ? { uid: op.args.uid, gid: op.args.gid } : undefined;
}

/** The program as a path: what PATH leads to first. */
function whichOf(container: ContainerRoot, { name, path }: { readonly name: string; readonly path: string }): string {
  if (name.includes("/")) return name;
  return (
    path
      .split(":")
      .map((directory) => `${directory}/${name}`)
      .find((candidate) => typeof find(container, candidate) !== "string") ?? name
  );
}

function explainDirectory(container: ContainerRoot, path: string, user: User | undefined): string | undefined {
  const found = find(container, path);
  if (typeof found === "string")
    return `the working directory ${path} is missing: ${explainMissing(container, path) ?? "it cannot be reached"}`;
  if (!isDirectory(found)) return `the working directory ${path} is not a directory`;
  const { mode, uid, gid } = found.stat;
  return `uid ${user?.uid ?? host.geteuid()} may not enter the working directory ${path} (mode 0${(mode & 0o7777).toString(8)}, owner ${uid}:${gid})`;
}

interface Ids {
  readonly uid: number;
  readonly gid: number;
  readonly groups: readonly number[];
}

/** Ids that the user namespace does not map. `call`: what the helper failed in. */
function explainUser({ proc }: ContainerRoot, { uid, gid, groups }: Ids, call: string): string | undefined {
  const kind = call.includes("setresuid") ? "uid" : "gid";
  const map = readMap(`${proc}/${kind}_map`);
  const wanted = kind === "uid" ? [uid] : [gid, ...groups];
  const missing = wanted.find((id) => !map.some(({ first, size }) => id >= first && id < first + size));
  if (missing === undefined) return undefined;
  const ranges = map.map(({ first, size }) => (size === 1 ? String(first) : `${first}-${first + size - 1}`)).join(", ");
  return `${kind} ${missing} is not mapped in the user namespace (mapped: ${ranges || "none"})`;
}

function readMap(path: string): { readonly first: number; readonly size: number }[] {
  return (attempt(() => host.readFile(path, undefined, true)) ?? "")
    .split("\n")
    .map((line) => line.trim().split(/\s+/).map(Number))
    .filter((fields) => fields.length === 3)
    .map(([first = 0, , size = 0]) => ({ first, size }));
}
