/** linux.sysctl: keys to paths below /proc/sys, allowed only where a namespace of the container holds the value. */
import { RuntError } from "../errors/index.ts";
import { pointerToken } from "../spec/index.ts";
import type { ContainerConfig, NamespaceConfig, NamespaceType } from "./types.ts";

const IPC_KEYS: ReadonlySet<string> = new Set([
  "kernel/msgmax",
  "kernel/msgmnb",
  "kernel/msgmni",
  "kernel/sem",
  "kernel/shmall",
  "kernel/shmmax",
  "kernel/shmmni",
  "kernel/shm_rmid_forced",
]);

/**
 * sysctl(8): the first separator decides. "a.b/c.d" means a/b.c/d (a slash stands for a dot inside a name), "a/b.c" is a path already.
 */
export function sysctlPath(key: string): string {
  const dot = key.indexOf(".");
  const slash = key.indexOf("/");
  if (dot === -1 || (slash !== -1 && slash < dot)) return key;
  let path = "";
  for (const c of key) path += c === "." ? "/" : c === "/" ? "." : c;
  return path;
}

/** The namespace type that makes a key the container's own; undefined when none does. */
function owner(path: string): NamespaceType | undefined {
  if (IPC_KEYS.has(path) || path.startsWith("fs/mqueue/")) return "ipc";
  if (path.startsWith("net/")) return "network";
  if (path === "kernel/domainname") return "uts";
  if (path.startsWith("user/")) return "user";
  return undefined;
}

export function deriveSysctl(
  sysctl: Readonly<Record<string, string>>,
  namespaces: readonly NamespaceConfig[],
  domainname?: string | null,
): ContainerConfig["sysctl"] {
  return Object.entries(sysctl).map(([key, value]) => {
    const refuse = (finding: string, reason: string) =>
      new RuntError("config-invalid", `sysctl "${key}" ${reason}`, { pointer: `/linux/sysctl/${pointerToken(key)}`, finding });
    const path = sysctlPath(key);
    if (path.split("/").some((part) => part === "" || part === "." || part === "..") || path.includes("\0"))
      throw refuse("sysctl-key", "is not a valid key");
    if (value.includes("\0")) throw refuse("sysctl-key", "has a NUL byte in its value");
    if (path === "kernel/hostname") throw refuse("sysctl-conflict", 'is not allowed as it conflicts with the field "hostname"');
    if (path === "kernel/domainname" && domainname && domainname !== value)
      throw refuse("sysctl-conflict", 'is not allowed as it conflicts with the field "domainname"');
    const type = owner(path);
    if (type === undefined) throw refuse("sysctl-host", "is not in a separate kernel namespace");
    if (!namespaces.some((namespace) => namespace.type === type)) {
      throw refuse("sysctl-shared", `is not in a separate kernel namespace: the container has no ${type} namespace of its own`);
    }
    return { key, path, value, namespace: type };
  });
}
