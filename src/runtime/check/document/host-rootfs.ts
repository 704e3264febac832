import { absolute } from "../host/container-files.ts";
import type { HostCheck } from "../host/host-check.ts";
import { nearest } from "../namespaces/host-names.ts";

/** config, root: a directory that exists, and not a link. */
export const rootFilesystem: HostCheck = ({ root }, report, { view }) => {
  if (!root?.path || (view.bundle === undefined && !root.path.startsWith("/"))) return;
  const tree = view.tree("/");
  if (tree === undefined) return;
  const path = absolute(view.bundle ?? "/", root.path).replace(/\/+$/, "") || "/";
  const pointer = "/root/path";
  const facts = view.stat(path);
  if (facts === "unknown") return;
  const itself = tree.look(path);
  if (itself?.kind === "symlink")
    report.error("rootfs-symlink", pointer, `"${root.path}" is a symbolic link: who can change it could put any directory in its place`);
  else if (facts === undefined) {
    const near = nearest(tree, path);
    report.error("rootfs-missing", pointer, `"${root.path}" does not exist${near === undefined ? "" : `; nearest: ${near}`}`);
  } else if (facts.kind !== "directory") report.error("rootfs-not-directory", pointer, `"${root.path}" is not a directory`);
};
