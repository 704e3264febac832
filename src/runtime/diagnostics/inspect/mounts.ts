/** The mounts that were asked for, beside those of /proc/PID/mountinfo. Pure. */
import type { ContainerConfig, MountConfig } from "../../config/index.ts";
import { attributeNames } from "../../plan/index.ts";
import { decodeMountPath } from "../../spec/index.ts";
import { type Setting, setting } from "./settings.ts";

export interface MountLine {
  readonly id: string;
  readonly point: string;
  readonly options: readonly string[];
  readonly fstype: string;
}

/** proc_pid_mountinfo(5). */
export function parseMountLines(text: string): MountLine[] {
  return text.split("\n").flatMap((line) => {
    const [left = "", right = ""] = line.split(" - ", 2);
    const [id, , , , point, options] = left.split(" ");
    const [fstype] = right.split(" ");
    if (id === undefined || point === undefined || options === undefined || fstype === undefined) return [];
    return [{ id, point: decodeMountPath(point), options: options.split(","), fstype }];
  });
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
        : [found.fstype, ...found.options.filter((name) => SHOWN.test(name))].join(" ");
  return setting("mounts", mount.target, mount.from, asked, kernel, () => {
    if (!found) return false;
    const type = mount.kind !== "filesystem" || found.fstype === fstype;
    return type && options.every((name) => found.options.includes(name));
  });
}
