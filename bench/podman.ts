/** Podman of another Debian, for comparisons: in a tree of its own (tools/debian-tree.sh), with storage and configuration below one directory. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { timed } from "./timed.ts";

/** This host's root may have no CAP_SYS_RESOURCE, so that Podman must not raise limits. */
const ULIMITS = ["nofile=20000:20000", "nproc=32768:32768"];

export class Podman {
  /** In front of each of its commands. */
  readonly #inside: readonly string[];
  readonly #env: Readonly<Record<string, string>>;
  /** Cgroups of others. */
  readonly #before = new Set(cgroupsOfPods());

  /**
   * To be called in a mount namespace of its own. @param work directory that both sides see under the same path.
   * @param network file of the network namespace that it is in; absent: that of this process
   */
  constructor(tree: string, work: string, network?: string) {
    this.#inside = [...(network === undefined ? [] : ["nsenter", `--net=${network}`]), "chroot", tree, "podman"];
    const directory = join(work, "podman");
    mkdirSync(directory);
    const put = (name: string, text: string): string => {
      writeFileSync(join(directory, name), text);
      return join(directory, name);
    };
    // crun changes the root, which has to be a mount.
    execFileSync("mount", ["--bind", tree, tree]);
    for (const path of ["proc", "sys", "dev"]) execFileSync("mount", ["--rbind", `/${path}`, join(tree, path)]);
    for (const path of ["run", "tmp"]) execFileSync("mount", ["-t", "tmpfs", "tmpfs", join(tree, path)]);
    mkdirSync(join(tree, work), { recursive: true });
    execFileSync("mount", ["--bind", work, join(tree, work)]);
    const policy = put("policy.json", '{ "default": [{ "type": "insecureAcceptAnything" }] }');
    this.#env = {
      PATH: "/usr/sbin:/usr/bin:/sbin:/bin",
      HOME: directory,
      PODMAN_IGNORE_CGROUPSV1_WARNING: "1",
      CONTAINERS_CONF: put(
        "containers.conf",
        `[containers]
default_ulimits = ${JSON.stringify(ULIMITS)}
log_driver = "k8s-file"
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
runtime = "crun"
[network]
network_config_dir = "${directory}/networks"
`,
      ),
      CONTAINERS_STORAGE_CONF: put(
        "storage.conf",
        `[storage]\ndriver = "overlay"\ngraphroot = "${directory}/graph"\nrunroot = "/run/containers"\n`,
      ),
      CONTAINERS_REGISTRIES_CONF: put("registries.conf", "unqualified-search-registries = []\n"),
    };
    mkdirSync(join(tree, "etc/containers"), { recursive: true });
    execFileSync("cp", [policy, join(tree, "etc/containers/policy.json")]);
    // Its name server demands one. Nobody asks it.
    writeFileSync(join(tree, "etc/resolv.conf"), "nameserver 127.0.0.1\n");
  }

  run(...args: string[]): string {
    const { status, stdout, stderr } = spawnSync(this.#inside[0]!, [...this.#inside.slice(1), ...args], {
      env: this.#env,
      encoding: "utf8",
    });
    if (status !== 0) throw new Error(`podman ${args.join(" ")}: ${stderr}`);
    return stdout;
  }

  /** Milliseconds until `podman kube play` says that the pod is there. */
  play(file: string): Promise<number> {
    return timed(this.#inside[0]!, [...this.#inside.slice(1), "kube", "play", file], this.#env);
  }

  /** Milliseconds until `podman run --rm` of an image ends. */
  once(image: string, ...words: string[]): Promise<number> {
    return timed(this.#inside[0]!, [...this.#inside.slice(1), "run", "--rm", "--network", "none", image, ...words], this.#env);
  }

  remove(): void {
    this.run("pod", "rm", "--force", "--time", "0", "--all");
  }

  /** Removes all pods, and the cgroups that Podman leaves of them. */
  end(): void {
    this.remove();
    for (const path of cgroupsOfPods().reverse()) if (!this.#before.has(path)) rmdirSync(path);
  }
}

/** A cgroup comes before those in it. */
function cgroupsOfPods(): string[] {
  const script = "find /sys/fs/cgroup -maxdepth 2 -name libpod_parent -exec find {} -type d ';'";
  return execFileSync("sh", ["-c", script], { encoding: "utf8" }).split("\n").filter(Boolean);
}
