/** Pods and their containers as scenarios see them, and the check that nothing is left of them. */
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { CriEngine } from "../cri.ts";
import type { CriClient, Request, Response } from "../cri-client.ts";
import type { ContainerConfig, Resources, SandboxConfig } from "../cri-messages.ts";
import { type Engine, IMAGE } from "../engine.ts";
import type { Sent } from "../protobuf.ts";
import type { Scenario } from "../scenario.ts";
import { Stream } from "../websocket.ts";

const POLL_MS = 50;
const WITHIN_MS = 8000;
const CGROUPS = "/sys/fs/cgroup";

export const SLEEP = ["sleep", "1000"];
/** Namespace modes and states of the interface. */
export const OF_POD = 0;
export const OF_NODE = 2;
export const OF_TARGET = 3;
export const READY = 0;
export const RUNNING = 1;
export const EXITED = 2;

type Sandbox = Sent<typeof SandboxConfig>;
type SandboxSecurity = NonNullable<NonNullable<Sandbox["linux"]>["security"]>;
type Configuration = Sent<typeof ContainerConfig>;
type ContainerSecurity = NonNullable<NonNullable<Configuration["linux"]>["security"]>;

export interface PodOptions {
  readonly security?: SandboxSecurity;
  readonly sysctls?: Readonly<Record<string, string>>;
  readonly config?: Sandbox;
  /** A runtime other than the default. */
  readonly handler?: string;
}

export interface ContainerOptions {
  readonly name?: string;
  readonly attempt?: number;
  readonly security?: ContainerSecurity;
  readonly resources?: Sent<typeof Resources>;
  readonly config?: Configuration;
}

/** Poll until `test` gives no assertion error any more. */
export async function eventually<T>(test: () => Promise<T> | T): Promise<T> {
  const deadline = Date.now() + WITHIN_MS;
  for (;;) {
    try {
      return await test();
    } catch (error) {
      if (!(error instanceof assert.AssertionError) || Date.now() > deadline) throw error;
    }
    await sleep(POLL_MS);
  }
}

/** Gives a scenario pods with names and cgroups of its own. */
export class Node {
  readonly pods: Pod[] = [];
  readonly engine: CriEngine;
  readonly id: string;
  readonly directory: string;

  constructor(engine: CriEngine, id: string, directory: string) {
    this.engine = engine;
    this.id = id;
    this.directory = directory;
  }

  get cri(): CriClient {
    return this.engine.cri;
  }

  async pod(options: PodOptions = {}): Promise<Pod> {
    const name = `${this.id}-${this.pods.length}`;
    const cgroup = `${this.engine.cgroupParent}/pod-${name}`;
    // kubelet makes a pod's cgroup; the runtime finds it there.
    for (const hierarchy of hierarchies()) mkdirSync(join(hierarchy, cgroup), { recursive: true });
    const config: Sandbox = {
      metadata: { name, uid: name, namespace: "default", attempt: 0 },
      hostname: name,
      logDirectory: this.directory,
      ...options.config,
      linux: {
        cgroupParent: cgroup,
        ...(options.sysctls ? { sysctls: options.sysctls } : {}),
        security: { namespaces: PRIVATE_PID, ...options.security },
      },
    };
    const pod = new Pod(this, cgroup, config, options.security ?? {});
    this.pods.push(pod);
    pod.id = (await this.cri.call("RunPodSandbox", { config, handler: options.handler })).sandboxId;
    return pod;
  }
}

/** Kubelet's defaults for a pod. */
const PRIVATE_PID = { network: OF_POD, pid: 1, ipc: OF_POD };

export class Pod {
  id = "";
  readonly containers: Container[] = [];
  readonly node: Node;
  readonly cgroup: string;
  readonly config: Sandbox;
  readonly #security: SandboxSecurity;

  constructor(node: Node, cgroup: string, config: Sandbox, security: SandboxSecurity) {
    this.node = node;
    this.cgroup = cgroup;
    this.config = config;
    this.#security = security;
  }

  get cri(): CriClient {
    return this.node.cri;
  }

  async status(): Promise<NonNullable<Response<"PodSandboxStatus">["status"]>> {
    return (await this.cri.call("PodSandboxStatus", { sandboxId: this.id })).status!;
  }

  /** Made, not started. A container shares what its pod shares. */
  async create(command: readonly string[], options: ContainerOptions = {}): Promise<Container> {
    const name = options.name ?? `c${this.containers.length}`;
    const attempt = options.attempt ?? 0;
    const logPath = `${this.config.metadata?.name}-${name}-${attempt}.log`;
    const { namespaces = PRIVATE_PID, privileged } = this.#security;
    const { containerId } = await this.cri.call("CreateContainer", {
      sandboxId: this.id,
      sandboxConfig: this.config,
      config: {
        metadata: { name, attempt },
        image: { image: IMAGE },
        command,
        logPath,
        ...options.config,
        linux: {
          resources: options.resources ?? {},
          security: { namespaces, ...(privileged ? { privileged } : {}), ...options.security },
        },
      },
    });
    const container = new Container(this, containerId, join(this.node.directory, logPath));
    this.containers.push(container);
    return container;
  }

  async start(command: readonly string[] = SLEEP, options: ContainerOptions = {}): Promise<Container> {
    const container = await this.create(command, options);
    await this.cri.call("StartContainer", { containerId: container.id });
    return container;
  }

  /** A shell script, and what it wrote until its end, errors among the rest. */
  async output(script: string, options: ContainerOptions = {}): Promise<string> {
    const container = await this.start(["sh", "-c", `exec 2>&1; ${script}`], options);
    await container.exited();
    return container.log();
  }

  async stop(): Promise<void> {
    await this.cri.stopSandbox(this.id);
  }

  async remove(): Promise<void> {
    await this.cri.call("RemovePodSandbox", { sandboxId: this.id });
  }
}

export class Container {
  readonly pod: Pod;
  readonly id: string;
  readonly #log: string;

  constructor(pod: Pod, id: string, log: string) {
    this.pod = pod;
    this.id = id;
    this.#log = log;
  }

  async status(): Promise<NonNullable<Response<"ContainerStatus">["status"]>> {
    return (await this.pod.cri.call("ContainerStatus", { containerId: this.id })).status!;
  }

  /** Of the first process, as this PID namespace has it. */
  async pid(): Promise<number> {
    const { info } = await this.pod.cri.call("ContainerStatus", { containerId: this.id, verbose: true });
    return (JSON.parse(info["info"] ?? "{}") as { pid: number }).pid;
  }

  exited(): Promise<Awaited<ReturnType<Container["status"]>>> {
    return eventually(async () => {
      const status = await this.status();
      assert.equal(status.state, EXITED, "the container has ended");
      return status;
    });
  }

  async exec(...command: string[]): Promise<{ stdout: string; stderr: string; exitCode: number }> {
    const { stdout, stderr, exitCode } = await this.pod.cri.call("ExecSync", { containerId: this.id, command, timeout: 10 });
    return { stdout: stdout.toString(), stderr: stderr.toString(), exitCode };
  }

  /** A shell script that has to succeed; its output without the last line feed. */
  async shell(script: string): Promise<string> {
    const { stdout, stderr, exitCode } = await this.exec("sh", "-c", script);
    assert.equal(exitCode, 0, `${script}: ${stderr}`);
    return stdout.trimEnd();
  }

  async stream(request: Omit<Request<"Exec">, "containerId">): Promise<Stream> {
    return Stream.open((await this.pod.cri.call("Exec", { containerId: this.id, ...request })).url);
  }

  async attach(request: Omit<Request<"Attach">, "containerId">): Promise<Stream> {
    return Stream.open((await this.pod.cri.call("Attach", { containerId: this.id, ...request })).url);
  }

  async stop(seconds: number): Promise<void> {
    await this.pod.cri.call("StopContainer", { containerId: this.id, timeout: seconds });
  }

  async remove(): Promise<void> {
    await this.pod.cri.call("RemoveContainer", { containerId: this.id });
  }

  /** Lines "TIME STREAM TAG TEXT". */
  logLines(): readonly string[] {
    return readFileSync(this.#log, "utf8").split("\n").filter(Boolean);
  }

  /** What the log keeps of one stream, or of both. */
  log(stream = "\\w+"): string {
    // What a terminal prints ends with a carriage return, which no dot matches without the flag.
    const line = new RegExp(`^\\S+ ${stream} ([FP]) (.*)$`, "s");
    return this.logLines()
      .flatMap((text) => {
        const [, tag, content = ""] = line.exec(text) ?? [];
        return tag === undefined ? [] : [tag === "F" ? `${content}\n` : content];
      })
      .join("");
  }

  /** A file of its cgroup. */
  cgroupFile(hierarchy: string, file: string): string {
    const name = this.pod.node.engine.cgroupName?.(this.id) ?? this.id;
    return readFileSync(join(CGROUPS, hierarchy, this.pod.cgroup, name, file), "utf8").trim();
  }
}

/** Those that a directory can be made in: on cgroup v1 all mounted ones. */
function hierarchies(): readonly string[] {
  return readdirSync(CGROUPS, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(join(CGROUPS, entry.name, "cgroup.procs")))
    .map(({ name }) => join(CGROUPS, name));
}

/** The scenario's body, then the end of its pods, of which nothing may be left. */
export function criScenario(name: string, body: (node: Node) => Promise<void>): Scenario {
  return {
    name,
    steps: [],
    async act({ engine, id, directory }) {
      assert(isCri(engine), "an engine without this interface");
      const node = new Node(engine, id, directory);
      try {
        await body(node);
        await engine.clean(id);
        await nothingLeft(node);
      } catch (error) {
        await engine.clean(id);
        removeCgroups(node);
        throw error;
      }
    },
  };
}

function isCri(engine: Engine): engine is CriEngine {
  return "cri" in engine;
}

async function nothingLeft({ engine, pods }: Node): Promise<void> {
  const ids = pods.flatMap((pod) => [pod.id, ...pod.containers.map((container) => container.id)]);
  await eventually(() => {
    for (const directory of engine.stateDirectories.filter(existsSync)) {
      const names = readdirSync(directory);
      for (const id of ids) assert(!names.includes(id), `left in ${directory}: ${id}`);
    }
    const mounts = readFileSync("/proc/self/mountinfo", "utf8");
    for (const id of ids) assert(!mounts.includes(id), `left mounted: ${id}`);
    for (const process of commandLines()) for (const id of ids) assert(!process.includes(id), `left running: ${process}`);
  });
  // Busy with a process, not empty with a cgroup left below.
  for (const { cgroup } of pods) for (const hierarchy of hierarchies()) rmdirSync(join(hierarchy, cgroup));
}

export function commandLines(): readonly string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
      } catch {
        return "";
      }
    });
}

/** Removes what can be removed after a failure. */
function removeCgroups({ pods }: Node): void {
  for (const { cgroup } of pods) {
    for (const hierarchy of hierarchies()) {
      try {
        rmdirSync(join(hierarchy, cgroup));
      } catch {
        // The outer half of main.ts tries again when every process has ended.
      }
    }
  }
}
