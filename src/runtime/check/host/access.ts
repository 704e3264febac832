/** Whether a user may do something with a file, as the kernel decides from owner, group and permission bits. */
import { mountedInDev } from "../../config/index.ts";
import { cleanTarget, type Spec } from "../../spec/index.ts";
import { isBind } from "../mounts/words.ts";
import { namespaceOf } from "../namespaces/namespaces.ts";
import type { ContainerFiles, Found, NotFound } from "./container-files.ts";
import type { FileFacts } from "./view.ts";

/** The process as the files on the host see it. */
export interface User {
  readonly uid: number;
  readonly gids: readonly number[];
  /** Permission bits do not stop it (CAP_DAC_OVERRIDE). */
  readonly overrides: boolean;
  /** As the container calls it. */
  readonly name: string;
}

/** undefined: its ids on the host are not known. */
export function userOf(spec: Spec): User | undefined {
  const { uid, gid, additionalGids } = spec.process?.user ?? {};
  const namespace = namespaceOf(spec, "user");
  if (namespace?.path) return undefined;
  const effective = spec.process?.capabilities?.effective ?? [];
  const map = (id: number, mappings: readonly { containerID: number; hostID: number; size: number }[] | null | undefined): number =>
    namespace === undefined
      ? id
      : (mappings
          ?.map((entry) => (id >= entry.containerID && id < entry.containerID + entry.size ? id - entry.containerID + entry.hostID : -1))
          .find((found) => found >= 0) ?? -1);
  return {
    uid: map(uid ?? 0, spec.linux?.uidMappings),
    gids: [gid ?? 0, ...(additionalGids ?? [])].map((id) => map(id, spec.linux?.gidMappings)),
    overrides: namespace === undefined && effective.includes("CAP_DAC_OVERRIDE"),
    name: `uid ${uid ?? 0}`,
  };
}

/** The user who makes mount points in a new user namespace: its root, whose rights reach as far as the mappings. */
export interface NamespaceRoot extends User {
  isMapped(facts: FileFacts): boolean;
}

/** undefined: the container has no user namespace of its own, or its root has no id on the host. */
export function userNamespaceRoot({ linux, ...spec }: Spec): NamespaceRoot | undefined {
  const namespace = namespaceOf({ ...spec, linux }, "user");
  const [uids, gids] = [linux?.uidMappings ?? [], linux?.gidMappings ?? []];
  const [uid, gid] = [uids, gids].map((mappings) => mappings.find(({ containerID }) => containerID === 0)?.hostID);
  if (!namespace || namespace.path || uid === undefined || gid === undefined) return undefined;
  const has = (mappings: readonly { hostID: number; size: number }[], id: number) =>
    mappings.some(({ hostID, size }) => id >= hostID && id - hostID < size);
  return { uid, gids: [gid], overrides: false, name: "uid 0", isMapped: (facts) => has(uids, facts.uid) && has(gids, facts.gid) };
}

/** user_namespaces(7): CAP_DAC_OVERRIDE counts for files whose owner and group are mapped; else the permission bits do. */
export function mayMakeIn({ uid, gids, isMapped }: NamespaceRoot, facts: FileFacts): boolean {
  if (isMapped(facts)) return true;
  const bits = uid === facts.uid ? facts.mode >> 6 : gids.includes(facts.gid) ? facts.mode >> 3 : facts.mode;
  return (bits & 3) === 3;
}

/** Bit 1 of the class the user is in: execute a file, search a directory. */
export function mayExecute({ uid, gids, overrides }: User, { kind, mode, uid: owner, gid: group }: FileFacts): boolean {
  if (overrides) return kind === "directory" || (mode & 0o111) !== 0;
  const bits = uid === owner ? mode >> 6 : gids.includes(group) ? mode >> 3 : mode;
  return (bits & 1) !== 0;
}

export function modeText({ mode, uid, gid }: FileFacts): string {
  return `mode 0${mode.toString(8)}, owner ${uid}:${gid}`;
}

export const OWN_LINKS: Readonly<Record<string, string>> = {
  "/dev/fd": "/proc/self/fd",
  "/dev/stdin": "/proc/self/fd/0",
  "/dev/stdout": "/proc/self/fd/1",
  "/dev/stderr": "/proc/self/fd/2",
  "/dev/core": "/proc/kcore",
};

/**
 * Links that create makes in /dev by itself: no file shows them before. Nothing is made in a /dev that
 * is bound.
 */
export function hasHostDev({ mounts }: Spec): boolean {
  return (
    mounts?.some((mount) => isBind(mount) && !mount.options?.includes("remount") && cleanTarget(mount.destination) === "/dev") === true
  );
}

/** The path that one over such a link leads to; any other as it is. */
export function throughOwnLink(spec: Spec, path: string): string {
  const clean = cleanTarget(path);
  if (!clean.startsWith("/dev/")) return path;
  const slash = clean.indexOf("/", "/dev/".length);
  const link = slash < 0 ? clean : clean.slice(0, slash);
  const text = Object.hasOwn(OWN_LINKS, link) ? OWN_LINKS[link] : undefined;
  if (text === undefined || hasHostDev(spec) || mountedInDev(spec.mounts).has(link)) return path;
  return text + clean.slice(link.length);
}

/** What is at a path once create has made its links. */
export function findThroughOwnLink(spec: Spec, files: ContainerFiles, path: string): Found | NotFound {
  return files.find(throughOwnLink(spec, path));
}
