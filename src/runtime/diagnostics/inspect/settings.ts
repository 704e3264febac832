import type { MountLine } from "../../../shared/linux/index.ts";
import type { ContainerConfig, MountConfig } from "../../config/index.ts";
import { attributeNames } from "../../plan/index.ts";

/** One thing that was asked for, beside what the kernel says of it. Pure. */
export interface Setting {
  readonly group: "cgroup" | "namespaces" | "process" | "mounts";
  readonly name: string;
  /** JSON pointer in config.json; "" = implied. */
  readonly from: string;
  readonly asked?: string;
  /** undefined: it does not say. */
  readonly kernel?: string;
  /** The kernel has something else. */
  readonly drift: boolean;
}

/** `same` decides when both are known; with one of them unknown nothing has drifted. */
export function setting(
  group: Setting["group"],
  name: string,
  from: string,
  asked: string | undefined,
  kernel: string | undefined,
  same: (asked: string, kernel: string) => boolean = (one, other) => one === other,
): Setting {
  const drift = asked !== undefined && kernel !== undefined && !same(asked, kernel);
  return { group, name, from, ...(asked !== undefined && { asked }), ...(kernel !== undefined && { kernel }), drift };
}

/** What is mounted exactly at this path of the container; null: nothing; undefined: it cannot be told. */
export type FindMount = (target: string) => MountLine | null | undefined;

/** Options of a mount that MOUNT_ATTR_* bits stand for; the relative access time is what there is without any. */
const SHOWN = /^(ro|nosuid|nodev|noexec|noatime|nodiratime|nosymfollow)$/;

export function mountSettings({ mounts, rootReadonly }: ContainerConfig, find: FindMount): Setting[] {
  const root = find("/");
  return [
    ...(rootReadonly
      ? [setting("mounts", "/", "/root/readonly", "ro", root === undefined ? undefined : root?.options.includes("ro") ? "ro" : "rw")]
      : []),
    ...[...lastOfEach(mounts)].map((mount) => mountSetting(mount, find(mount.target))),
  ];
}

/** A later mount covers an earlier one at the same place; a remount changes it. */
function lastOfEach(mounts: readonly MountConfig[]): Iterable<MountConfig> {
  return new Map(mounts.filter(({ kind }) => kind !== "remount").map((mount) => [mount.target, mount])).values();
}

function mountSetting(mount: MountConfig, found: MountLine | null | undefined): Setting {
  const fstype = mount.kind === "filesystem" ? mount.fstype : mount.kind;
  const options = [...new Set(attributeNames(mount.attrSet | mount.recursiveSet).split(","))].filter((name) => SHOWN.test(name));
  const asked = [fstype, ...options].join(" ");
  const kernel =
    found === undefined
      ? undefined
      : found === null
        ? "not mounted"
        : [found.type, ...found.options.filter((name) => SHOWN.test(name))].join(" ");
  return setting("mounts", mount.target, mount.from, asked, kernel, () => {
    if (!found) return false;
    const type = mount.kind !== "filesystem" || found.type === fstype;
    return type && options.every((name) => found.options.includes(name));
  });
}
