/** Compose on a dockerd of its own, with the containerd and the runc that it starts itself, in a network and a mount namespace of its own. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, openSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { IMAGE_VARIABLE } from "./group-compose.ts";
import { type Peer, run, type SidePlace } from "./group-sides.ts";
import { inTree, PATH } from "./group-tree.ts";

const START_SECONDS = 30;

export interface DockerPlace extends SidePlace {
  /** Root file system with Compose, its client and dockerd. */
  readonly tree: string;
  /** Take the dockerd of this machine. */
  readonly ofMachine: boolean;
  /** Above the cgroups of its containers. */
  readonly cgroup: string;
  /** The Compose file. */
  readonly file: string;
}

export class Docker {
  readonly #place: DockerPlace;
  readonly #env: NodeJS.ProcessEnv;
  readonly #log: string;
  readonly #daemon: ChildProcess;

  /** To be called in namespaces of its own, after mountTree. */
  constructor(place: DockerPlace) {
    this.#place = place;
    const directory = join(place.work, "docker");
    mkdirSync(directory);
    this.#log = join(directory, "log");
    this.#env = { PATH, HOME: directory, DOCKER_HOST: `unix://${directory}/docker.sock`, [IMAGE_VARIABLE]: place.reference };
    if (!place.ofMachine) linkIptables(place.tree);
    const command = [
      ...["dockerd", "--data-root", join(directory, "data"), "--exec-root", join(directory, "exec"), "--pidfile", join(directory, "pid")],
      ...["--host", this.#env["DOCKER_HOST"]!, "--cgroup-parent", `/${place.cgroup}`, "--log-level", "warn"],
      // Older ones lower it, which takes CAP_SYS_RESOURCE; newer ones do not, and do not know the flag.
      ...(place.ofMachine ? ["--oom-score-adjust", "0"] : []),
    ];
    const log = openSync(this.#log, "w");
    const [program, ...words] = ["unshare", "--net", "--mount", "--propagation", "private", "--", ...this.#surrounded(command)];
    this.#daemon = spawn(program!, words, { stdio: ["ignore", log, log], env: this.#env });
  }

  /** What is in /run is the daemon's alone, and it reads no daemon.json. */
  #surrounded(command: readonly string[]): readonly string[] {
    const { tree, ofMachine } = this.#place;
    const root = ofMachine ? "" : tree;
    const script = `ip link set lo up
mount -t tmpfs -o mode=755 tmpfs "$1/run"
mkdir -p "$1/etc/docker"
mount -t tmpfs -o mode=755 tmpfs "$1/etc/docker"
shift
exec "$@"`;
    return ["sh", "-ec", script, "sh", root, ...inTree(ofMachine ? undefined : tree, command)];
  }

  async ready(): Promise<void> {
    for (let attempt = 0; ; attempt++) {
      if (this.#daemon.exitCode !== null || attempt > START_SECONDS * 5)
        throw new Error(`dockerd does not answer: ${readFileSync(this.#log, "utf8").slice(-3000)}`);
      try {
        await this.#docker("version");
        return;
      } catch {
        await sleep(200);
      }
    }
  }

  #command(words: readonly string[]): readonly string[] {
    return inTree(this.#place.tree, ["docker", ...words]);
  }

  #docker(...words: string[]): Promise<string> {
    return run(this.#command(words), this.#env);
  }

  #ask(...words: string[]): string {
    const [program, ...rest] = this.#command(words);
    return execFileSync(program!, rest, { encoding: "utf8", env: this.#env }).trim();
  }

  side(): Peer {
    const { archive, file, reference } = this.#place;
    const compose = (...words: string[]) => this.#docker("compose", "-f", file, ...words);
    const server = this.#ask("version", "--format", "{{.Server.Version}}");
    const runtime = this.#ask("version", "--format", '{{range .Server.Components}}{{if eq .Name "runc"}}{{.Version}}{{end}}{{end}}');
    return {
      name: "docker compose",
      version: `Compose ${this.#ask("compose", "version", "--short")}, dockerd ${server} with runc ${runtime}`,
      pull: () => this.#docker("load", "-q", "-i", archive),
      forget: () => this.#docker("rmi", "-f", reference),
      up: () => compose("up", "-d"),
      one: () => this.#docker("run", "--rm", reference, "true"),
      down: () => compose("down"),
    };
  }

  async end(): Promise<void> {
    const ended = new Promise((done) => this.#daemon.once("exit", done));
    this.#daemon.kill("SIGTERM");
    if (this.#daemon.exitCode === null && this.#daemon.signalCode === null) await ended;
  }
}

/** Links that alternatives(8) would have made; no script of a package has run in the tree. */
function linkIptables(tree: string): void {
  for (const name of ["iptables", "ip6tables"])
    if (!existsSync(`${tree}/usr/sbin/${name}`)) symlinkSync(`${name}-nft`, `${tree}/usr/sbin/${name}`);
}
