/** The two sides of bench/engine-group.ts: runtctl with a daemon of its own, and podman with storage of its own. */
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { BenchDaemon } from "./engine-daemon.ts";
import { groupPod } from "./group-pod.ts";

export interface GroupSide {
  readonly name: string;
  /** Gets the image. */
  pull(): Promise<void>;
  /** Removes the image and all that was made of it. */
  forget(): Promise<void>;
  /** Begins to bring the group up. Resolves when the command has ended. */
  up(): Promise<void>;
  /** Runs a container of the image to its end, and removes it. */
  one(): Promise<void>;
  /** Takes the group down. Resolves when nothing of it is left. */
  down(): Promise<void>;
}

export interface SidePlace {
  readonly work: string;
  readonly shared: string;
  /** Archive with the image, in the form of `docker save`. */
  readonly archive: string;
  readonly reference: string;
}

/** Rejects with what the command has printed. */
function run(command: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<void> {
  return new Promise((done, failed) => {
    const child = spawn(command[0]!, command.slice(1), { stdio: ["ignore", "pipe", "pipe"], env });
    let text = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (text += chunk));
    child.once("error", failed);
    child.once("close", (status) => (status === 0 ? done() : failed(new Error(`${command.join(" ")}: ${text}`))));
  });
}

export function engineSide(daemon: BenchDaemon, { work, shared, archive }: SidePlace): GroupSide {
  const file = join(work, "engine-pod.json");
  const image = `docker-archive:${archive}`;
  writeFileSync(file, groupPod({ image, shared }));
  const ctl = (...args: string[]) => run([process.execPath, resolve("dist/runtctl/main.js"), "-s", daemon.socket, ...args]);
  return {
    name: "runtctl apply",
    pull: () => ctl("pull", image),
    forget: () => ctl("images", "prune"),
    up: () => ctl("apply", "-f", file),
    // podman does not ask the source of an image that it has either.
    one: () => ctl("run", "--rm", "--pull", "prefer-cached", "--image", image, "--", "true"),
    down: () => ctl("delete", "group"),
  };
}

/** @param tree root file system with another podman; undefined: that of the host */
export function podmanSide(
  { work, shared, archive, reference }: SidePlace,
  tree: string | undefined,
): GroupSide & { readonly version: string } {
  const directory = join(work, "podman");
  mkdirSync(directory);
  const file = join(work, "podman-pod.json");
  writeFileSync(file, groupPod({ image: reference, shared }));
  const env = configuration(directory);
  const command = (...args: string[]) => [...(tree === undefined ? [] : ["chroot", tree]), "podman", ...args];
  const podman = (...args: string[]) => run(command(...args), env);
  const [program, ...words] = command("--version");
  return {
    name: "podman kube play",
    version: execFileSync(program!, words, { encoding: "utf8", env }).trim(),
    pull: () => podman("load", "-q", "-i", archive),
    forget: () => podman("rmi", "-f", reference),
    up: () => podman("kube", "play", file),
    one: () => podman("run", "--rm", reference, "true"),
    down: () => podman("kube", "down", file),
  };
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
  const PATH = "/usr/sbin:/usr/bin:/sbin:/bin";
  return { CONTAINERS_CONF: containers, CONTAINERS_STORAGE_CONF: storage, HOME: directory, PATH, PODMAN_IGNORE_CGROUPSV1_WARNING: "1" };
}

/** Mounts what podman needs of the host into a tree; to be called in a mount namespace of its own. @param work stays at its path */
export function prepareTree(tree: string, work: string): void {
  execFileSync("mount", ["--bind", tree, tree]);
  for (const path of ["/run", "/tmp"]) execFileSync("mount", ["-t", "tmpfs", "tmpfs", `${tree}${path}`]);
  for (const path of ["/proc", "/sys", "/dev"]) execFileSync("mount", ["--rbind", path, `${tree}${path}`]);
  for (const path of [work, `${tree}/var/tmp`, `${tree}/etc/containers`])
    mkdirSync(path.startsWith(tree) ? path : `${tree}${path}`, { recursive: true });
  execFileSync("mount", ["--bind", work, `${tree}${work}`]);
  const policy = `${tree}/etc/containers/policy.json`;
  if (!existsSync(policy)) writeFileSync(policy, JSON.stringify({ default: [{ type: "insecureAcceptAnything" }] }));
  // podman's own name server needs one to ask, and asks it nothing here.
  writeFileSync(`${tree}/etc/resolv.conf`, "nameserver 192.0.2.1\n");
}
