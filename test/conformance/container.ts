/** A container that a test made, and what can be seen of it from outside. */
import { readFileSync, readlinkSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { CallOptions, Result } from "../support/call.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { cgroupDirectory } from "./cgroups.ts";
import { type MountEntry, mountAt, namespaceOf, parseMountinfo, parseStatus } from "./observe.ts";

const POLL_MS = 5;

export type State = Readonly<Record<string, unknown>> & {
  readonly id: string;
  readonly status: string;
  readonly pid?: number;
  readonly bundle: string;
  readonly ociVersion: string;
  readonly annotations?: Readonly<Record<string, string>>;
};

export class Container {
  constructor(
    readonly id: string,
    readonly bundle: string,
    readonly call: (args: readonly string[], options?: CallOptions) => Promise<Result>,
  ) {}

  /** The runtime's own word, for the tests of `state`; the others look at the kernel. */
  async state(): Promise<State> {
    return JSON.parse(await this.ok(["state", this.id]));
  }

  /** pid of init as `state` tells it. */
  async pid(): Promise<number> {
    const { pid } = await this.state();
    if (pid === undefined || pid <= 0) throw new Error(`container ${this.id} has no pid`);
    return pid;
  }

  async ok(args: readonly string[], options?: CallOptions): Promise<string> {
    const result = await this.call(args, options);
    if (result.status !== 0) throw new Error(`${args.join(" ")}: status ${result.status}: ${result.stderr || result.stdout}`);
    return result.stdout;
  }

  start(options?: CallOptions): Promise<string> {
    return this.ok(["start", this.id], options);
  }

  /** Run a shell command in the container; its output. */
  exec(command: string, ...flags: readonly string[]): Promise<string> {
    return this.ok(["exec", ...flags, this.id, "/bin/sh", "-c", command]);
  }

  kill(signal: string, ...flags: readonly string[]): Promise<string> {
    return this.ok(["kill", ...flags, this.id, signal]);
  }

  delete(...flags: readonly string[]): Promise<string> {
    return this.ok(["delete", ...flags, this.id]);
  }

  /** Wait until the runtime tells this status. */
  async until(status: string): Promise<void> {
    await waitFor(async () => {
      const result = await this.call(["state", this.id]);
      return result.status === 0 && JSON.parse(result.stdout).status === status;
    }, `status ${status}`);
  }

  /** End the process of a started container, and wait until it is seen as stopped. */
  async end(): Promise<void> {
    await this.kill("KILL");
    await this.until("stopped");
  }

  /** /proc/PID/NAME of init. */
  async proc(name: string): Promise<string> {
    return readFileSync(`/proc/${await this.pid()}/${name}`, "utf8");
  }

  async status(): Promise<ReadonlyMap<string, string>> {
    return parseStatus(await this.proc("status"));
  }

  async mounts(): Promise<MountEntry[]> {
    return parseMountinfo(await this.proc("mountinfo"));
  }

  async mount(target: string): Promise<MountEntry> {
    return mountAt(await this.mounts(), target);
  }

  /** Path, on the host, of a path in the container. Links in it are followed by the host. */
  async path(inside: string): Promise<string> {
    return `/proc/${await this.pid()}/root${inside}`;
  }

  async namespace(type: string): Promise<string> {
    return namespaceOf(await this.pid(), type);
  }

  /** The directory of init's cgroup of a v1 controller; on a unified host its one directory. */
  async cgroup(controller: string): Promise<string> {
    return cgroupDirectory(await this.pid(), controller);
  }

  /** Trimmed text of a file of that cgroup. */
  async limit(controller: string, file: string): Promise<string> {
    return readFileSync(`${await this.cgroup(controller)}/${file}`, "utf8").trim();
  }

  async executable(): Promise<string> {
    return readlinkSync(`/proc/${await this.pid()}/exe`);
  }
}

/** Poll until it holds; throws naming `what` after a minute. */
export async function waitFor(holds: () => boolean | Promise<boolean>, what: string, patience = PATIENCE_MS): Promise<void> {
  const deadline = Date.now() + patience;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`waited in vain for: ${what}`);
    await sleep(POLL_MS);
  }
}
