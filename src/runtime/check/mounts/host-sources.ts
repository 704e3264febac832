import { CGROUP2_OPTIONS, cgroup2OptionProblem, isUserspaceOption, MOUNT_OPTIONS, withoutEffect } from "../../config/index.ts";
import { closeNames } from "../../spec/index.ts";
import { absolute, type HostCheck } from "../host/container-files.ts";
import type { BundleView } from "../host/view.ts";
import { nearest } from "../namespaces/host-namespaces.ts";
import { isBind } from "./words.ts";

/** So many missing sources get a close name, for which a directory is read: a configuration with more has other troubles. */
const MOST_SEARCHES = 50;

/** config, mounts: the source of a bind mount must exist. */
export const mountSources: HostCheck = ({ mounts }, report, { view }) => {
  const tree = view.live ? view.tree("/") : undefined;
  if (tree === undefined) return;
  let searches = 0;
  mounts?.forEach((mount, index) => {
    if (!isBind(mount) || !mount.source || mount.options?.includes("remount")) return;
    if (!mount.source.startsWith("/") && view.bundle === undefined) return;
    const source = absolute(view.bundle ?? "/", mount.source);
    const ofLink = mount.options?.some((word) => word === "copy-symlink" || /^src-nofollow(?:=|$)/.test(word));
    if ((ofLink ? tree.look(source) : view.stat(source)) !== undefined) return;
    const near = ++searches > MOST_SEARCHES ? undefined : nearest(tree, source);
    report.error(
      "mount-source-missing",
      `/mounts/${index}/source`,
      `"${mount.source}" does not exist${near === undefined ? "" : `; nearest: ${near}`}`,
    );
  });
};

/** Made by the runtime from whatever the host has. */
const OWN = ["cgroup", "cgroup2", "bind"];

/** proc(5), /proc/filesystems: built in or loaded; others may come with a module when they are mounted. */
export const filesystemTypes: HostCheck = ({ mounts }, report, { view }) => {
  const known = view.facts.filesystems;
  if (!known || known.length === 0) return;
  mounts?.forEach((mount, index) => {
    const { type } = mount;
    if (
      !type ||
      isBind(mount) ||
      mount.options?.includes("remount") ||
      OWN.includes(type) ||
      type.startsWith("fuse.") ||
      known.includes(type)
    )
      return;
    const close = closeNames(type, known);
    const meant = close.length > 0 ? `; did you mean ${close.join(" or ")}?` : "";
    // A word of fstab(5) for mounts that have no filesystem of their own; no module will ever bring it.
    const modules = type === "none" ? "" : modulesOf(view);
    if (modules?.includes(`/${type}.ko`)) return;
    const pointer = `/mounts/${index}/type`;
    if (modules === undefined) report.warning("mount-type-unknown", pointer, `the kernel has no filesystem "${type}" loaded${meant}`);
    else report.error("filesystem-missing", pointer, `the kernel has no filesystem "${type}", nor a module for it${meant}`);
  });
};

/** Unknown options of a cgroup mount: on v1 they have no effect (mount-data-ignored). */
export const cgroupMountOptions: HostCheck = ({ mounts }, report, { view }) => {
  const isUnified = view.facts.cgroup?.version === 2;
  mounts?.forEach(({ type, destination, options }, index) => {
    if (type !== "cgroup" && type !== "cgroup2") return;
    options?.forEach((word, at) => {
      if (word === "" || MOUNT_OPTIONS.has(word) || isUserspaceOption(word)) return;
      const problem = cgroup2OptionProblem(destination, word);
      if (problem === undefined) return;
      if (!isUnified) {
        report.warning("mount-data-ignored", `/mounts/${index}/options/${at}`, withoutEffect(destination, [word]));
        return;
      }
      const close = closeNames(word, CGROUP2_OPTIONS);
      const meant = close.length > 0 ? `; did you mean ${close.join(" or ")}?` : "";
      report.error("mount-cgroup-option", `/mounts/${index}/options/${at}`, problem + meant);
    });
  });
};

/** modules.dep(5): every module by its file; none for a kernel that loads no modules. undefined: the list cannot be read. */
function modulesOf({ facts, live, text, stat }: BundleView): string | undefined {
  if (live && stat("/proc/version") !== undefined && stat("/proc/modules") === undefined) return "";
  return live && facts.kernel?.release ? text(`/lib/modules/${facts.kernel.release}/modules.dep`) : undefined;
}
