import { cleanTarget, NAMESPACE_TYPES, type SpecMount } from "../../spec/index.ts";
import type { Check } from "../finding.ts";
import { isMapped } from "../namespaces/id-mappings.ts";
import { namespaceOf } from "../namespaces/namespaces.ts";
import { PathTree } from "../path-tree.ts";
import { kernelNumber, optionsIn } from "./filesystems.ts";
import { isBind } from "./words.ts";

/** Filesystems that show one namespace. Mounting one needs rights over that namespace. */
const OF_NAMESPACE: Readonly<Record<string, string>> = { sysfs: "network", proc: "pid", mqueue: "ipc" };

/** user_namespaces(7): a new user namespace has no rights over the host's other namespaces. */
export const mountNamespaces: Check = (spec, report) => {
  const user = namespaceOf(spec, "user");
  if (!user || user.path) return;
  spec.mounts?.forEach((mount, index) => {
    const type = mount.type ?? "";
    const needed = Object.hasOwn(OF_NAMESPACE, type) ? OF_NAMESPACE[type] : undefined;
    if (needed === undefined || isBind(mount) || mount.options?.includes("remount") || namespaceOf(spec, needed)) return;
    report.error(
      "mount-host-namespace",
      `/mounts/${index}/type`,
      `mount of "${mount.destination}": ${type} cannot be mounted in a user namespace without a ${needed} namespace of its own`,
      `add a ${needed} namespace, or bind the host's (type bind, options rbind, ro)`,
    );
  });
};

/** user_namespaces(7): the options uid and gid name ids of the container. */
export const ungrantedMountIds: Check = (spec, report) => {
  const user = namespaceOf(spec, "user");
  if (!user || user.path) return;
  spec.mounts?.forEach((mount, index) => {
    if (isBind(mount)) return;
    const checkOption = (option: string, at: number): void => {
      const [, kind, text = ""] = /^(uid|gid)=(.+)$/.exec(option) ?? [];
      const id = kernelNumber(text);
      if (kind === undefined || id === undefined) return;
      const field = kind === "uid" ? "uidMappings" : "gidMappings";
      const mappings = spec.linux?.[field] ?? [];
      if (mappings.length === 0 || isMapped(mappings, id)) return;
      report.error(
        "mount-id-not-mapped",
        `/mounts/${index}/options/${at}`,
        `mount of "${mount.destination}": ${option}, and the id is not mapped in linux.${field}`,
      );
    };
    mount.options?.forEach((word, at) => {
      for (const option of optionsIn(mount.type, word)) checkOption(option, at);
    });
  });
};

/** config, process: the terminal is one of the container's own devpts. */
export const terminalMount: Check = (spec, report) => {
  if (!spec.process?.terminal || !namespaceOf(spec, "mount")) return;
  // Every entry must have been seen to say that there is none.
  for (const mount of spec.mounts ?? []) {
    const path = cleanTarget(mount.destination);
    if (path === "/dev/pts" && (mount.type === "devpts" || isBind(mount))) return;
    if (path === "/dev" && isBind(mount)) return;
  }
  report.error(
    "terminal-without-devpts",
    "/process/terminal",
    "process.terminal: no devpts is mounted on /dev/pts to take the terminal from",
  );
};

/** config-linux, namespaces: a type that is not listed is shared with the runtime, and so are its mounts. */
export const sharedMounts: Check = (spec, report) => {
  // Without the section that is said of all namespaces.
  if (!spec.linux || namespaceOf(spec, "mount")) return;
  // An unknown one may be a misspelt mount namespace: that is an error already.
  if (spec.linux.namespaces?.some(({ type }) => !(NAMESPACE_TYPES as readonly string[]).includes(type))) return;
  const count = spec.mounts?.length ?? 0;
  if (count === 0 && !spec.root?.readonly) return;
  const what = count === 0 ? "the read-only root" : count === 1 ? "the mount" : `${count} mounts`;
  report.warning(
    "mounts-shared",
    count === 0 ? "/root/readonly" : "/mounts",
    `without a mount namespace of the container's own ${what} will be in the caller's, in sight of every process there, until delete`,
    "add a mount namespace",
  );
};

/** path_resolution(7), PATH_MAX: nothing can be mounted at a longer one. */
const LONGEST = 4096;

const isRemount = ({ options }: SpecMount): boolean => options?.includes("remount") === true;

/** config, mounts: they are made in their order, so that a later one hides what is at or below its destination. */
export const mountOrder: Check = ({ mounts }, report) => {
  const points = new PathTree<number>();
  mounts?.forEach((mount, index) => {
    const path = cleanTarget(mount.destination);
    if (isRemount(mount) || path === "/" || path.length > LONGEST) return;
    // What is hidden once is hidden: another mount hides this one alone.
    const hidden = points.replace(path, index);
    if (hidden.length === 0) return;
    for (const earlier of [...hidden].sort((one, other) => one - other)) {
      const pointer = `/mounts/${earlier}/destination`;
      const before = cleanTarget(mounts[earlier]!.destination);
      const again = before === path;
      const message = again
        ? `"${path}" is mounted again by entry ${index}, which hides this one`
        : `"${before}" is hidden by the later mount of "${path}" (entry ${index})`;
      report.warning("mount-hidden", pointer, message, again ? "leave one of them out" : `put "${path}" before it`);
    }
  });
};
