/** Links that create makes in /dev by itself: no file shows them before. */
import { mountedInDev } from "../../config/index.ts";
import { cleanTarget, type Spec } from "../../spec/index.ts";
import { isBind } from "../mounts/words.ts";
import type { ContainerFiles, Found, NotFound } from "./container-files.ts";

export const OWN_LINKS: Readonly<Record<string, string>> = {
  "/dev/fd": "/proc/self/fd",
  "/dev/stdin": "/proc/self/fd/0",
  "/dev/stdout": "/proc/self/fd/1",
  "/dev/stderr": "/proc/self/fd/2",
  "/dev/core": "/proc/kcore",
};

/** Nothing is made in a /dev that is bound. */
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
