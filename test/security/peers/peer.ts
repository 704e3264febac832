/** Podman and Docker as the attacks on the engine meet them: with a service, and storage, state and socket of their own. */
import type { ChildProcess } from "node:child_process";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { request } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { docker } from "../../engines/docker.ts";
import { type Engine, IMAGE, type Place } from "../../engines/engine.ts";
import { podman } from "../../engines/podman.ts";
import { must, type Output, call as run, start } from "../../engines/process.ts";
import { eventually } from "../subject.ts";
import type { Finding, PeerName } from "./names.ts";

export type PeerAttack = (peer: Peer) => Promise<Finding>;

export const finding = (isHeld: boolean, detail: string): Finding => ({ word: isHeld ? "held" : "**succeeds**", detail });
export const noCounterpart = (why: string): Finding => ({ word: "no counterpart", detail: why });

/** Of the package whose containers a peer makes. */
const RUNTIME = "/usr/sbin/runc";
/** Of all this: the first process, and what changes networks. */
const TOOLS = ["/usr/bin/catatonit", "/usr/bin/setpriv", "/usr/bin/nsenter", "/bin/ip"];
const PROGRAMS: Readonly<Record<PeerName, readonly string[]>> = {
  Podman: ["/usr/bin/podman", "/usr/bin/conmon", RUNTIME],
  Docker: ["/usr/sbin/dockerd", "/usr/bin/docker", "/usr/bin/containerd", RUNTIME],
};

/** The first program that is not here, of those that attacks on a peer need. */
export function missing(name: PeerName): string | undefined {
  return [...TOOLS, ...PROGRAMS[name]].find((path) => !existsSync(path));
}

export function versionOf(name: PeerName): string {
  return /version ([^\s,]+)/.exec(execFileSync(PROGRAMS[name][0]!, ["--version"], { encoding: "utf8" }))?.[1] ?? "?";
}

/** A peer that runs. Both have the API of Docker on their socket. */
export class Peer {
  #service: ChildProcess | undefined;

  private constructor(
    readonly name: PeerName,
    readonly engine: Engine,
    /** For files of the attacks. */
    readonly directory: string,
    readonly socket: string,
  ) {}

  /** To be called in the namespaces that main.ts makes. `place.directory/bin` has the runtime. */
  static async start(name: PeerName, place: Place): Promise<Peer> {
    const directory = join(place.directory, `attacks-${name}`);
    mkdirSync(directory);
    const started = await (name === "Docker" ? docker : podman).start(place, join(place.directory, "bin/runc"));
    // Podman's service leaves in /var/tmp what a request has sent half.
    const engine = { ...started, env: { ...started.env, TMPDIR: directory } };
    const peer = new Peer(name, engine, directory, name === "Docker" ? "/run/docker-runc/docker.sock" : "/run/podman-attacks.sock");
    await peer.serve();
    return peer;
  }

  /** Podman has no daemon: what answers on its socket is a service that is started for this. */
  async serve(): Promise<void> {
    if (this.name === "Podman") {
      const words = this.engine.command(["system", "service", "--time", "0", `unix://${this.socket}`]);
      this.#service = start(words, { timeout: 0, env: this.engine.env }).child;
    }
    await eventually(() => this.answers(), `${this.name} answers`);
  }

  /** The process that has the socket. */
  get pid(): number {
    return this.name === "Podman" ? (this.#service?.pid ?? 0) : Number(readFileSync("/run/docker-runc/pid", "utf8"));
  }

  /** Kills what answers, and starts it again. `between`: what the attacker does meanwhile. */
  async killed(between: () => void): Promise<void> {
    if (this.name === "Podman") this.#service?.kill("SIGKILL");
    else process.kill(this.pid, "SIGKILL");
    await eventually(async () => !(await this.answers()), `${this.name} is gone`);
    between();
    if (this.name === "Podman") await this.serve();
    else await this.engine.restart?.("SIGKILL");
  }

  client(...args: readonly string[]): Promise<Output> {
    return run(this.#words(args), { env: this.engine.env });
  }

  /** The same, expecting success. Returns stdout. */
  async ok(...args: readonly string[]): Promise<string> {
    return (await must(this.#words(args), { env: this.engine.env })).stdout.trim();
  }

  /** A container that runs a command of a shell. Returns the pid of its first process. */
  async running(name: string, flags: readonly string[] = ["--network", "none"], script = "exec sleep 1000"): Promise<number> {
    await this.ok("run", "-d", "--name", name, ...flags, IMAGE, "sh", "-c", script);
    return Number(await this.ok("inspect", "-f", "{{.State.Pid}}", name));
  }

  #words(args: readonly string[]): readonly string[] {
    return this.engine.command(this.engine.expand({ kind: "engine", args, expect: {} }));
  }

  /** Status of a GET; 0 if there is no answer within five seconds. */
  get(path: string): Promise<number> {
    return new Promise((resolve) => {
      const call = request({ socketPath: this.socket, path, agent: false, timeout: 5000 }, (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
        response.once("end", () => call.destroy());
      });
      call.once("timeout", () => call.destroy());
      call.once("error", () => resolve(0));
      call.end();
    });
  }

  async answers(): Promise<boolean> {
    return (await this.get("/_ping")) === 200;
  }

  /** Sends bytes, and resolves with what came until the end, or for so long. */
  send(bytes: Buffer | string, milliseconds: number): Promise<string> {
    return new Promise((resolve) => {
      const socket = connect(this.socket);
      let received = "";
      const end = () => {
        socket.destroy();
        resolve(received);
      };
      socket.setTimeout(milliseconds, end);
      socket.on("data", (chunk: Buffer) => {
        if (received.length < 4096) received += chunk.toString("latin1");
      });
      socket.once("error", end);
      socket.once("close", end);
      socket.write(bytes);
    });
  }

  async stop(): Promise<void> {
    await this.engine.clean("");
    this.#service?.kill("SIGTERM");
    await this.engine.stop();
  }
}
