/** Podman's side of the comparison: `podman kube play` on a host of its own. */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Podman } from "../../bench/podman.ts";
import { until } from "../engine/requests.ts";
import { mountHierarchies } from "../support/hierarchies.ts";

interface Listed {
  readonly Names: readonly string[];
  readonly PodName: string;
  readonly IsInfra: boolean;
  readonly State: string;
  readonly ExitCode: number;
}

export class PodmanHost {
  readonly #podman: Podman;
  readonly #network: string;
  readonly #loaded = new Set<string>();
  /** Below it both sides see the same paths. */
  readonly work: string;

  /** To be called in a mount namespace of its own. */
  constructor(tree: string, work: string) {
    this.work = work;
    this.#network = join(work, "network");
    writeFileSync(this.#network, "");
    execFileSync("unshare", [`--net=${this.#network}`, "ip", "link", "set", "lo", "up"]);
    this.#podman = new Podman(tree, work, this.#network);
    // crun refuses v2 with controllers beside v1. runt sees the hierarchies of the machine.
    mountHierarchies(work, { v1Alone: true, at: join(tree, "sys/fs/cgroup") });
  }

  version(): string {
    return this.#podman.run("--version").trim();
  }

  /** @param archive of `docker save`, with an image of this name */
  load(archive: string, name: string): void {
    if (this.#loaded.has(name)) return;
    this.#podman.run("load", "--quiet", "--input", archive);
    this.#loaded.add(name);
  }

  /** Why it refuses the file; undefined: it has started it. */
  play(file: string): string | undefined {
    try {
      this.#podman.run("kube", "play", file);
      return undefined;
    } catch (error) {
      return String(error).trimEnd().replaceAll("\n", " | ");
    }
  }

  #containers(): readonly Listed[] {
    const all = JSON.parse(this.#podman.run("ps", "--all", "--pod", "--format", "json")) as readonly Listed[];
    return all.filter(({ IsInfra }) => !IsInfra);
  }

  /** Full names of its containers by the names of the manifest. @param pod name of the object that the pod is of */
  namesOf(pod: string): Readonly<Record<string, string>> {
    const mine = this.#containers().filter(({ PodName }) => PodName === pod || PodName === `${pod}-pod`);
    return Object.fromEntries(mine.map(({ Names: [name = ""], PodName }) => [name.slice(PodName.length + 1), name]));
  }

  logs(container: string): string {
    return this.#podman.run("logs", container);
  }

  /** stdout of a program of this machine in the network of a container. `podman exec` looks for programs in the root of the mount namespace, which is not its tree. */
  inNetworkOf(container: string, ...command: string[]): string {
    const pid = this.#podman.run("inspect", "--format", "{{.State.Pid}}", container).trim();
    return execFileSync("nsenter", [`--net=/proc/${pid}/ns/net`, ...command], { encoding: "utf8" });
  }

  /** stdout of a program that runs on Podman's host. */
  on(...command: string[]): string {
    return execFileSync("nsenter", [`--net=${this.#network}`, ...command], { encoding: "utf8" });
  }

  /** Ends all pods. @returns exit codes by full names */
  async stop(): Promise<Readonly<Record<string, number>>> {
    this.#podman.run("pod", "stop", "--all", "--time", "5");
    let found: readonly Listed[] = [];
    await until(() => {
      found = this.#containers();
      return found.every(({ State }) => State === "exited" || State === "stopped");
    });
    return Object.fromEntries(found.map(({ Names: [name = ""], ExitCode }) => [name, ExitCode]));
  }

  /** Removes all that the last file has made. */
  clean(): void {
    this.#podman.remove();
    for (const kind of ["volume", "secret"]) this.#podman.run(kind, "rm", "--all");
  }

  end(): void {
    this.#podman.end();
    execFileSync("umount", ["--lazy", this.#network]);
  }
}
