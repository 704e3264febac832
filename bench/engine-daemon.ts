/** A daemon of its own for the benchmark of the task engine, and what a client and the kernel say of it. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { removeCgroupParents } from "./namespace.ts";
import { timed } from "./timed.ts";

export interface Told {
  readonly type: string;
  readonly name: string;
  readonly container?: string;
  readonly known?: string;
  readonly exit?: { readonly endedWallMs: number } | null;
}

export interface Footprint {
  readonly rssBytes: number;
  readonly descriptors: number;
  readonly storeBytes: number;
  /** Files and directories of the state directory. */
  readonly inodes: number;
}

const DIST = resolve("dist");
const RUNT = resolve("bin/runt");

/** The client as it is installed. */
const RUNTCTL = resolve("bin/runtctl");

export class BenchDaemon {
  readonly directory = mkdtempSync(join(tmpdir(), "runt-bench-engine-"));
  readonly #stateDir = join(this.directory, "state");
  readonly socket = join(this.directory, "run/admin.sock");
  readonly #parent: string;
  readonly #child: ChildProcess;

  /** @param parent cgroup above those of the containers */
  constructor(env: Readonly<Record<string, string>> = {}, parent = `/runt-bench-${process.pid}`) {
    this.#parent = parent;
    const log = openSync(join(this.directory, "log"), "w");
    const words = ["--state-dir", this.#stateDir, "--run-dir", join(this.directory, "run"), "--cgroup-parent", this.#parent];
    this.#child = spawn(process.execPath, [join(DIST, "runtd/main.js"), ...words, "--memory", "1Ti", "--cpus", "100000"], {
      stdio: ["ignore", "ignore", log],
      env: { ...process.env, ...env },
    });
  }

  async ready(): Promise<void> {
    while (!readFileSync(join(this.directory, "log"), "utf8").includes('"ready"')) {
      if (this.#child.exitCode !== null) throw new Error(readFileSync(join(this.directory, "log"), "utf8"));
      await sleep(20);
    }
  }

  call(method: string, path: string, body?: unknown): Promise<string> {
    return new Promise((done, failed) => {
      const headers = body === undefined ? {} : { "content-type": "application/json" };
      const call = request({ socketPath: this.socket, method, path, headers }, (response) => {
        let text = "";
        response.on("data", (chunk) => {
          text += chunk;
        });
        response.on("end", () => (response.statusCode! < 300 ? done(text) : failed(new Error(`${method} ${path}: ${text}`))));
      });
      call.on("error", failed);
      call.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }

  /** Tells each event as it arrives, until `stop`. Returns when the stream is open. */
  async events(tell: (event: Told, arrivedMs: number) => void): Promise<{ stop(): void }> {
    const { lastSequence } = JSON.parse(await this.call("GET", "/v1/node"));
    return new Promise((done, failed) => {
      const call = request({ socketPath: this.socket, path: `/v1/events?after=${lastSequence}` }, (response) => {
        let rest = "";
        response.on("data", (chunk) => {
          const now = performance.timeOrigin + performance.now();
          const lines = `${rest}${chunk}`.split("\n");
          rest = lines.pop()!;
          for (const line of lines) if (line.startsWith("data: ")) tell(JSON.parse(line.slice("data: ".length)), now);
        });
        response.on("error", () => {});
        done({ stop: () => call.destroy() });
      });
      call.on("error", failed);
      call.end();
    });
  }

  /** Wall milliseconds of `runtctl get`, as a user has it. */
  clientGetMs(): number {
    const begun = performance.now();
    execFileSync(RUNTCTL, ["-s", this.socket, "get"], { stdio: "ignore" });
    return performance.now() - begun;
  }

  /** Milliseconds of `runtctl` with these words, as a user has it. */
  ctl(words: readonly string[]): Promise<number> {
    return timed(RUNTCTL, ["-s", this.socket, ...words]);
  }

  /** `runtctl get NAME -o json`. */
  shown(name: string): string {
    return execFileSync(RUNTCTL, ["-s", this.socket, "get", name, "-o", "json"], { encoding: "utf8" });
  }

  /** Deletes tasks, and returns when nothing is left of them. */
  async remove(names: readonly string[]): Promise<void> {
    for (const name of names) await this.call("DELETE", `/v1/tasks/${name}`);
    while (JSON.parse(await this.call("GET", "/v1/tasks")).tasks.some((one: { name: string }) => names.includes(one.name))) await sleep(20);
  }

  footprint(): Footprint {
    const { pid } = this.#child;
    const store = readdirSync(this.#stateDir).filter((name) => name.startsWith("engine.db"));
    return {
      rssBytes: Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]) * 1024,
      descriptors: readdirSync(`/proc/${pid}/fd`).length,
      storeBytes: store.reduce((sum, name) => sum + statSync(join(this.#stateDir, name)).size, 0),
      inodes: inodesBelow(this.#stateDir),
    };
  }

  /** Containers, cgroups and files go. */
  async end(): Promise<void> {
    this.#child.kill("SIGTERM");
    await new Promise((done) => (this.#child.exitCode === null ? this.#child.once("exit", done) : done(undefined)));
    const root = join(this.#stateDir, "executors/@runtime");
    const list = existsSync(root)
      ? (JSON.parse(execFileSync(RUNT, ["--root", root, "list", "-f", "json"], { encoding: "utf8", maxBuffer: 1 << 28 })) ?? [])
      : [];
    for (const { id } of list) execFileSync(RUNT, ["--root", root, "delete", "--force", id]);
    // What the daemon had begun may still be ending.
    const left = await removeCgroupParents(this.#parent.slice(1));
    if (left.length > 0) throw new Error(`not removed: ${left.join(", ")}`);
    rmSync(this.directory, { recursive: true, force: true });
  }
}

function inodesBelow(directory: string): number {
  return readdirSync(directory, { withFileTypes: true }).reduce(
    (sum, entry) => sum + 1 + (entry.isDirectory() ? inodesBelow(join(directory, entry.name)) : 0),
    0,
  );
}
