/** Other ways to run a program once, beside a claim: each gives the time from its start to the first byte of the program's output, called from here. */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";

export interface Peer {
  readonly name: string;
  /** Milliseconds. */
  run(round: number): Promise<number>;
  end(): void;
}

export interface PeerOptions {
  /** A bundle with the configuration of the pool's containers. */
  readonly bundle: string;
  readonly rootfs: string;
  /** For states of runtimes. */
  readonly directory: string;
  /** Path of runt. */
  readonly binary: string;
  /** The program that each peer runs, with its arguments. */
  readonly command: readonly string[];
}

const IMAGE = "localhost/runt-bench-pool:latest";

/** Finds the peers on this host that can run the program. `runt run` and `crun run` get the same configuration. A missing peer is named. */
export async function peersHere({ bundle, rootfs, directory, binary, command }: PeerOptions): Promise<Peer[]> {
  const runtime = (name: string, path: string): Peer => ({
    name: `${name} run`,
    run: (round) => firstByte([path, "--root", join(directory, `${name}-state`), "run", "-b", bundle, `${name}-${round + 1}`]),
    end: () => {},
  });
  const crun = ["/usr/local/bin/crun", "/usr/bin/crun"].find((path) => existsSync(path));
  const engines = ["docker", "podman"].flatMap((name) => engine(name, rootfs, command) ?? []);
  if (crun === undefined) console.log("crun: not installed");
  const all = [runtime("runt", binary), ...(crun === undefined ? [] : [runtime("crun", crun)]), ...engines];
  const found: Peer[] = [];
  for (const peer of all) {
    try {
      await peer.run(-1);
      found.push(peer);
    } catch (error) {
      console.log(`${peer.name}: ${(error as Error).message}`);
      peer.end();
    }
  }
  return found;
}

/** undefined: it is not installed, or cannot make the image. */
function engine(name: string, rootfs: string, command: readonly string[]): Peer | undefined {
  if (spawnSync(name, ["version"], { stdio: "ignore", timeout: 20_000 }).status !== 0) {
    console.log(`${name}: not installed, or does not answer`);
    return undefined;
  }
  execFileSync("sh", ["-c", `tar -C "$1" -c . | ${name} import - ${IMAGE}`, "sh", rootfs], { stdio: "ignore" });
  return {
    name: `${name} run`,
    run: () => firstByte([name, "run", "--rm", "--network", "none", IMAGE, ...command]),
    end: () => void spawnSync(name, ["rmi", "-f", IMAGE], { stdio: "ignore" }),
  };
}

/** Milliseconds from the start of a program to its first byte. @throws Error: it has failed */
async function firstByte([file = "", ...args]: readonly string[]): Promise<number> {
  const began = performance.now();
  const child = spawn(file, args, { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "close");
  await Promise.race([once(child.stdout, "data"), ended]);
  const time = performance.now() - began;
  const [status] = await ended;
  if (status !== 0) throw new Error(`${file} ${args.join(" ")} ended with ${status}`);
  return time;
}
