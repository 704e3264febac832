/** The namespaces that were asked for, beside those that init is in. Pure. */
import type { ContainerConfig, NamespaceType } from "../../config/index.ts";
import { type Setting, setting } from "./settings.ts";

/** Files of /proc/PID/ns (namespaces(7)). */
const FILES: Readonly<Record<NamespaceType, string>> = {
  cgroup: "cgroup",
  ipc: "ipc",
  mount: "mnt",
  network: "net",
  pid: "pid",
  time: "time",
  user: "user",
  uts: "uts",
};

export interface NamespaceLook {
  /** "net:[4026531840]" of init and of the one who looks. */
  ofInit(file: string): string | undefined;
  ownOne(file: string): string | undefined;
  /** The same of a path, as far as it still leads to a namespace. */
  ofPath(path: string): string | undefined;
}

export function namespaceSettings({ namespaces }: ContainerConfig, look: NamespaceLook): Setting[] {
  const asked = new Map(namespaces.map((entry) => [entry.type, entry]));
  return (Object.keys(FILES) as NamespaceType[]).flatMap((type) => {
    const [file, entry] = [FILES[type], asked.get(type)];
    const kernel = look.ofInit(file);
    const own = look.ownOne(file);
    if (entry === undefined) {
      // Whoever looks may be elsewhere than the runtime was: then nothing is said.
      return own === kernel ? [] : [setting("namespaces", type, "", "the runtime's", kernel, () => true)];
    }
    if (entry.path === undefined) return setting("namespaces", type, entry.from, "new", kernel, () => kernel !== own);
    const joined = look.ofPath(entry.path);
    return setting("namespaces", type, entry.from, entry.path, kernel, () => joined === undefined || joined === kernel);
  });
}
