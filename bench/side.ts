/** One of the two runtimes that a benchmark compares. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeBundle, type Variant } from "./bundles.ts";
import { REPOSITORY } from "./namespace.ts";

export const TOOLS = join(REPOSITORY, "build/bench");

const DELETERS = 4;

export interface Place {
  /** Everything is below it; work/rootfs is there. */
  readonly work: string;
  /** Name of the cgroup below which everything is, without slash. */
  readonly cgroup: string;
  /** Without them a bundle that sets limits is refused. */
  readonly hasControllers: boolean;
}

export class Side {
  /** Id of the container that runs during the whole scenario. */
  readonly live: string;

  constructor(
    readonly place: Place,
    readonly letter: string,
    readonly name: string,
    readonly binary: string,
  ) {
    this.live = `live-${letter}`;
  }

  /** State root of a scenario. */
  root(of = "root"): string {
    const root = join(this.place.work, "state", `${of}-${this.letter}`);
    mkdirSync(root, { recursive: true });
    return root;
  }

  command(of?: string): string {
    return `${this.binary} --root ${this.root(of)}`;
  }

  /** A bundle whose program ends at once, or sleeps. */
  bundle(what: "true" | "sleep", variant: Variant = "plain"): string {
    const name = `${this.letter}-${variant}-${what}`;
    const args = what === "true" ? ["/bin/true"] : ["/bin/sleep", "100000"];
    const { work, cgroup, hasControllers } = this.place;
    return makeBundle(work, name, variant, args, `/${cgroup}/${name}`, (spec) => {
      if (!hasControllers) delete spec.linux.resources;
    });
  }

  /** Like `sleep`, with a cgroup for each container: a runtime that is given a path uses it as it is. */
  crowdBundle(variant: Variant, count: number): string {
    const prefix = `${this.letter}-${variant}-crowd-`;
    const model = readFileSync(join(this.bundle("sleep", variant), "config.json"), "utf8");
    for (let number = 0; number < count; number++) {
      const bundle = join(this.place.work, `${prefix}${number}`);
      mkdirSync(bundle, { recursive: true });
      const config = model.replace(/("cgroupsPath":)"[^"]*"/, `$1"/${this.place.cgroup}/${prefix}${number}"`);
      writeFileSync(join(bundle, "config.json"), config);
    }
    return join(this.place.work, `${prefix}@`);
  }

  has(verb: string): boolean {
    return spawnSync(this.binary, [verb, "--help"], { stdio: "ignore" }).status === 0;
  }

  version(): string {
    return execFileSync(this.binary, ["--version"], { encoding: "utf8" }).split("\n")[0] ?? "";
  }

  /** Output is discarded: a container would keep a pipe open. */
  run(...args: readonly string[]): void {
    execFileSync(this.binary, ["--root", this.root(), ...args], { stdio: ["ignore", "ignore", "inherit"] });
  }

  /** Remove all containers of a root, by many workers. */
  deleteAll(of = "root"): void {
    const root = this.root(of);
    const ids = readdirSync(root).filter((entry) => !/^[.@]/.test(entry));
    const command = ["-r", "-P", String(DELETERS), "-n", "1", this.binary, "--root", root, "delete", "--force"];
    // If one fails, removeCgroupParents (namespace.ts) kills what is left.
    spawnSync("xargs", command, { input: ids.join("\n"), stdio: ["pipe", "ignore", "ignore"] });
  }
}

export interface CrowdTimes {
  /** Nanoseconds of each command, by number. */
  readonly each: readonly (readonly number[])[];
  readonly totalNs: number;
}

/** Run crowd.c: these commands for each number from `first` on; the number replaces `@`. */
export function crowd(workers: number, first: number, count: number, commands: readonly string[]): CrowdTimes {
  const output = execFileSync(join(TOOLS, "crowd"), [workers, first, count].map(String), {
    input: `${commands.join("\n")}\n`,
    encoding: "utf8",
    stdio: ["pipe", "pipe", "inherit"],
    maxBuffer: 1 << 26,
  });
  const lines = output.trim().split("\n");
  const each = lines.slice(0, -1).map((line) => line.split(" ").slice(1).map(Number));
  return { each, totalNs: Number(lines.at(-1)?.split(" ")[1]) };
}
