/** Sides of bench/engine-group.ts: runtctl with a daemon of its own, with a pod or a Compose file, and podman with storage of its own. */
import { execFileSync, spawn } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { BenchDaemon } from "./engine-daemon.ts";
import { IMAGE_VARIABLE } from "./group-compose.ts";
import { groupPod, POD } from "./group-pod.ts";
import { inTree, PATH } from "./group-tree.ts";

export interface GroupSide {
  readonly name: string;
  /** Gets the image. */
  pull(): Promise<unknown>;
  /** Removes the image and all that was made of it. */
  forget(): Promise<unknown>;
  /** Begins to bring the group up. Resolves when the command has ended. */
  up(): Promise<unknown>;
  /** Runs a container of the image to its end, and removes it. */
  one(): Promise<unknown>;
  /** Takes the group down. Resolves when nothing of it is left. */
  down(): Promise<unknown>;
}

/** What the own side is compared with. */
export interface Peer extends GroupSide {
  readonly version: string;
}

export interface SidePlace {
  readonly work: string;
  readonly shared: string;
  /** Archive with the image, in the form of `docker save`. */
  readonly archive: string;
  readonly reference: string;
}

/** Resolves, or rejects, with what the command has printed. */
export function run(command: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<string> {
  return new Promise((done, failed) => {
    const child = spawn(command[0]!, command.slice(1), { stdio: ["ignore", "pipe", "pipe"], env });
    let text = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (text += chunk));
    child.once("error", failed);
    child.once("close", (status) => (status === 0 ? done(text) : failed(new Error(`${command.join(" ")}: ${text}`))));
  });
}

export function podSide(daemon: BenchDaemon, { work, shared, archive }: SidePlace): GroupSide {
  const file = join(work, "engine-pod.json");
  const image = `docker-archive:${archive}`;
  writeFileSync(file, groupPod({ image, shared }));
  return engineSide(daemon, image, file, [POD]);
}

/** @param file also that of the peer */
export function composeSide(daemon: BenchDaemon, { archive }: SidePlace, file: string): GroupSide {
  const image = `docker-archive:${archive}`;
  return engineSide(daemon, image, file, ["-f", file], { ...process.env, [IMAGE_VARIABLE]: image });
}

function engineSide(daemon: BenchDaemon, image: string, file: string, deleted: readonly string[], env = process.env): GroupSide {
  const ctl = (...args: string[]) => run([resolve("bin/runtctl"), "-s", daemon.socket, ...args], env);
  return {
    name: "runtctl apply",
    pull: () => ctl("pull", image),
    forget: () => ctl("images", "prune"),
    up: () => ctl("apply", "-f", file),
    // The peers do not ask the source of an image that they have either.
    one: () => ctl("run", "--rm", "--pull", "prefer-cached", "--image", image, "--", "true"),
    down: () => ctl("delete", ...deleted),
  };
}

/** @param tree root file system with another podman; undefined: that of the host */
export function podmanSide({ work, shared, archive, reference }: SidePlace, tree: string | undefined): Peer {
  const directory = join(work, "podman");
  mkdirSync(directory);
  if (tree !== undefined) prepareTree(tree);
  const file = join(work, "podman-pod.json");
  writeFileSync(file, groupPod({ image: reference, shared }));
  const env = configuration(directory);
  const command = (...args: string[]) => inTree(tree, ["podman", ...args]);
  const podman = (...args: string[]) => run(command(...args), env);
  const [program, ...words] = command("--version");
  return {
    name: "podman kube play",
    version: execFileSync(program!, words, { encoding: "utf8", env }).trim(),
    pull: () => podman("load", "-q", "-i", archive),
    forget: () => podman("rmi", "-f", reference),
    up: async () => appendFileSync(podsFile(work), await podman("kube", "play", file)),
    one: () => podman("run", "--rm", reference, "true"),
    down: () => podman("kube", "down", file),
  };
}

const podsFile = (work: string): string => join(work, "podman-pods");

/** Cgroups of the pods that podman has made: it leaves them. */
export function podsOf(work: string): string[] {
  const text = existsSync(podsFile(work)) ? readFileSync(podsFile(work), "utf8") : "";
  return [...text.matchAll(/^Pod:\n([0-9a-f]{64})$/gm)].map(([, id]) => `libpod_parent/${id}`);
}

function configuration(directory: string): NodeJS.ProcessEnv {
  const containers = join(directory, "containers.conf");
  // The log driver that writes a file, as the engine does; limits that a host without CAP_SYS_RESOURCE allows.
  const lines = [
    ...["[containers]", 'default_ulimits = ["nofile=20000:20000", "nproc=32768:32768"]', 'log_driver = "k8s-file"'],
    ...["[engine]", 'cgroup_manager = "cgroupfs"', 'events_logger = "file"', 'runtime = "crun"'],
  ];
  writeFileSync(containers, `${lines.join("\n")}\n`);
  const storage = join(directory, "storage.conf");
  writeFileSync(storage, `[storage]\ndriver = "overlay"\ngraphroot = "${directory}/graph"\nrunroot = "${directory}/run"\n`);
  return { CONTAINERS_CONF: containers, CONTAINERS_STORAGE_CONF: storage, HOME: directory, PATH, PODMAN_IGNORE_CGROUPSV1_WARNING: "1" };
}

function prepareTree(tree: string): void {
  mkdirSync(`${tree}/etc/containers`, { recursive: true });
  const policy = `${tree}/etc/containers/policy.json`;
  if (!existsSync(policy)) writeFileSync(policy, JSON.stringify({ default: [{ type: "insecureAcceptAnything" }] }));
  // podman's own name server needs one to ask, and asks it nothing here.
  writeFileSync(`${tree}/etc/resolv.conf`, "nameserver 192.0.2.1\n");
}
