/** runtd as a service of the guest's systemd, and what the kernel says of its containers. */
import { execFile, execFileSync } from "node:child_process";
import { existsSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { TaskView } from "../../src/engine/index.ts";
import { http, identityOf, until } from "../engine/requests.ts";
import type { Listed } from "../engine/support.ts";
import { show } from "../support/systemd.ts";

const run = promisify(execFile);

export const UNIT = "runtd.service";
export const STATE = "/var/lib/runtd";
export const SOCKET = "/run/runtd/admin.sock";
/** Its --cgroup-parent, in cgroup v2. */
export const CGROUP = "/sys/fs/cgroup/runtd";
const PACKAGES = join(process.env["PAYLOAD"] ?? "/payload", "packages");
/** Where a service looks for programs. */
const NODE = "/usr/local/bin/node";

export interface NodeView {
  readonly bootId: string;
  readonly epoch: number;
  readonly lastSequence: number;
  readonly conditions: readonly unknown[];
}

/** What dpkg has printed. @throws Error, with what it has said */
export async function dpkg(...args: readonly string[]): Promise<string> {
  return (await run("dpkg", [...args])).stdout;
}

/** Also puts Node where a service finds it. */
export async function install(name: "current" | "newer"): Promise<void> {
  if (!existsSync(NODE)) symlinkSync(process.execPath, NODE);
  await dpkg("--install", ...["runt", "runtd"].map((one) => join(PACKAGES, `${one}-${name}.deb`)));
}

/** @throws Error: it is not answered with success */
export async function ask<T>(method: string, path: string, body?: unknown): Promise<T> {
  const { status, text } = await http(SOCKET, method, path, body);
  if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`);
  return (text === "" ? undefined : JSON.parse(text)) as T;
}

/** Of every group, by id. */
export async function tasks(): Promise<readonly TaskView[]> {
  return (await ask<{ tasks: TaskView[] }>("GET", "/v1/tasks")).tasks;
}

export function node(): Promise<NodeView> {
  return ask("GET", "/v1/node");
}

/** Waits until a daemon answers. */
export async function answered(): Promise<void> {
  await until(() =>
    node().then(
      () => true,
      () => false,
    ),
  );
}

export async function mainPid(): Promise<number> {
  return Number((await show(UNIT, "MainPID"))["MainPID"]);
}

/** By the installed runt; by that of the build when there is none. */
export function list(runt = "/usr/bin/runt"): Listed[] {
  if (!existsSync(join(STATE, "executors/@runtime"))) return [];
  return JSON.parse(execFileSync(runt, ["--root", join(STATE, "executors/@runtime"), "list", "-f", "json"], { encoding: "utf8" })) ?? [];
}

/** "id pid:start ticks" of each container that runs: the same text is the same process. */
export function identities(runt?: string): string[] {
  return list(runt)
    .filter(({ status }) => status === "running")
    .map(({ id, pid }) => `${id} ${identityOf(pid)}`)
    .sort();
}

export function isAlive(identity: string): boolean {
  const pid = Number(/(\d+):\d+$/.exec(identity)![1]);
  try {
    return identityOf(pid) === identity.split(" ").at(-1) && !/^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

/** The one of cgroup v2, as the kernel has it. */
export function cgroupOf(pid: number): string {
  return readFileSync(`/proc/${pid}/cgroup`, "utf8").trim().replace(/^0::/, "");
}

/** What the daemon has said last, for a failure. */
export function journal(): string {
  return execFileSync("journalctl", ["--unit", UNIT, "--lines=60", "--no-pager", "--output=short-monotonic"], { encoding: "utf8" });
}
