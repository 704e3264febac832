/** A root file system with programs of another Debian (tools/debian-tree.sh), in which sides of bench/engine-group.ts run theirs. */
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";

export const PATH = "/usr/sbin:/usr/bin:/sbin:/bin";

/** The command in this tree; undefined: on the host. */
export function inTree(tree: string | undefined, command: readonly string[]): readonly string[] {
  return tree === undefined ? command : ["chroot", tree, ...command];
}

/** Mounts what engines need of the host into a tree; to be called in a mount namespace of its own. @param work stays at its path */
export function mountTree(tree: string, work: string): void {
  // Runtimes change the root, which has to be a mount.
  execFileSync("mount", ["--bind", tree, tree]);
  for (const path of ["/run", "/tmp"]) execFileSync("mount", ["-t", "tmpfs", "tmpfs", `${tree}${path}`]);
  for (const path of ["/proc", "/sys", "/dev"]) execFileSync("mount", ["--rbind", path, `${tree}${path}`]);
  for (const path of [work, "/var/tmp"]) mkdirSync(`${tree}${path}`, { recursive: true });
  execFileSync("mount", ["--bind", work, `${tree}${work}`]);
}
