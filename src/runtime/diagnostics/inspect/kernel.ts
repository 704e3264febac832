/** What the kernel says of a container's init and of its cgroup. Reads; what is gone or not the caller's to see is left out. */
import { NAMESPACE_FILES, parseMountinfo } from "../../../shared/linux/index.ts";
import { compileCgroup, readHierarchies } from "../../cgroup/index.ts";
import type { ContainerConfig, NamespaceType } from "../../config/index.ts";
import * as host from "../../host/index.ts";
import { parseFields, readText } from "../../prepare/index.ts";
import type { StateRecord } from "../../state/index.ts";
import { limitSettings } from "./limits.ts";
import { processSettings } from "./process.ts";
import { type FindMount, mountSettings, type Setting, setting } from "./settings.ts";

/** @param started init has become the program */
export function kernelSettings(config: ContainerConfig, record: StateRecord, rootless: boolean, started: boolean): Setting[] {
  const { pid } = record;
  const proc = (file: string) => readText(`/proc/${pid}/${file}`);
  return [
    ...cgroupSettings(config, record, rootless),
    ...namespaceSettings(config, {
      ofInit: (file) => link(`/proc/${pid}/ns/${file}`),
      ownOne: (file) => link(`/proc/self/ns/${file}`),
      ofPath: linkOfPath,
    }),
    ...processSettings(
      config,
      {
        status: proc("status"),
        limits: proc("limits"),
        oomScoreAdj: proc("oom_score_adj"),
        cwd: link(`/proc/${pid}/cwd`),
        label: proc("attr/current"),
        uidMap: proc("uid_map"),
        gidMap: proc("gid_map"),
        ownSeccomp: parseFields(readText("/proc/self/status") ?? "").get("Seccomp"),
      },
      started,
    ),
    ...(config.namespaces.some(({ type }) => type === "mount") ? mountSettings(config, mountsOf(pid)) : []),
  ];
}

function cgroupSettings({ resources }: ContainerConfig, { cgroup }: StateRecord, rootless: boolean): Setting[] {
  const facts = readHierarchies();
  const mountpoint = facts.hierarchies.find((hierarchy) => cgroup?.paths[0]?.startsWith(`${hierarchy.mountpoint}/`))?.mountpoint;
  if (cgroup === undefined || mountpoint === undefined) return [];
  const { writes, devices } = compileCgroup(facts, cgroup.paths[0]!.slice(mountpoint.length), resources, { rootless });
  const settings = limitSettings(writes, readText);
  if (devices) settings.push(deviceProgram(devices));
  return settings;
}

function deviceProgram({ path, rules }: { readonly path: string; readonly rules: readonly string[] }): Setting {
  const asked = `${rules.length} rules`;
  const count = programsOf(path);
  const kernel = count === undefined ? undefined : count === 0 ? "no program" : "a program";
  return setting("cgroup", "devices", "/linux/resources/devices", asked, kernel, () => count !== 0);
}

/** undefined: the caller may not ask. */
function programsOf(path: string): number | undefined {
  try {
    const directory = host.open(path, host.O.RDONLY | host.O.DIRECTORY);
    try {
      const programs = host.bpfQueryDevice(directory);
      programs.forEach(host.close);
      return programs.length;
    } finally {
      host.close(directory);
    }
  } catch (error) {
    if (host.isErrno(error, "EPERM", "EACCES", "ENOENT", "EINVAL", "ENOSYS")) return undefined;
    throw error;
  }
}

function link(path: string): string | undefined {
  try {
    return host.readlink(path);
  } catch (error) {
    if (host.isErrno(error, "ENOENT", "EACCES", "EPERM", "ESRCH", "EINVAL")) return undefined;
    throw error;
  }
}

/** A path of the configuration may be a bind of a namespace file, whose link cannot be read: its inode says the same. */
function linkOfPath(path: string): string | undefined {
  const type = path.slice(path.lastIndexOf("/") + 1);
  const direct = link(path);
  if (direct?.includes(":[")) return direct;
  try {
    const found = host.stat(path);
    return found && /^(cgroup|ipc|mnt|net|pid|time|user|uts)$/.test(type) ? `${type}:[${found.ino}]` : undefined;
  } catch (error) {
    if (host.isErrno(error, "EACCES", "EPERM", "ELOOP")) return undefined;
    throw error;
  }
}

/**
 * What is mounted at paths of the container, whose links are the container's: resolved in its root, and told apart by the id of the
 * mount that the path ends on.
 */
function mountsOf(pid: number): FindMount {
  const lines = new Map(parseMountinfo(readText(`/proc/${pid}/mountinfo`) ?? "").map((line) => [line.id, line]));
  if (lines.size === 0) return () => undefined;
  let root: number;
  try {
    root = host.open(`/proc/${pid}/root`, host.O.PATH | host.O.DIRECTORY);
  } catch (error) {
    if (host.isErrno(error, "EACCES", "EPERM", "ENOENT", "ESRCH")) return () => undefined;
    throw error;
  }
  return (target) => {
    try {
      const fd = host.openInRoot(root, target, host.O.PATH);
      try {
        const id = parseFields(host.readFile(`/proc/self/fdinfo/${fd}`, undefined, true)).get("mnt_id") ?? "";
        const path = host.readlink(`/proc/self/fd/${fd}`).replace(/ \(deleted\)$/, "");
        const line = lines.get(id);
        return line?.point === path ? line : null;
      } finally {
        host.close(fd);
      }
    } catch (error) {
      if (host.isErrno(error, "ENOENT", "ENOTDIR", "ELOOP")) return null;
      if (host.isErrno(error, "EACCES", "EPERM", "ENOSYS", "ESRCH", "EXDEV", "EAGAIN")) return undefined;
      throw error;
    }
  };
}

interface NamespaceLook {
  /** "net:[4026531840]" of init and of the one who looks. */
  ofInit(file: string): string | undefined;
  ownOne(file: string): string | undefined;
  /** The same of a path, as far as it still leads to a namespace. */
  ofPath(path: string): string | undefined;
}

/** The namespaces that were asked for, beside those that init is in. Pure. */
export function namespaceSettings({ namespaces }: ContainerConfig, look: NamespaceLook): Setting[] {
  const asked = new Map(namespaces.map((entry) => [entry.type, entry]));
  return (Object.keys(NAMESPACE_FILES) as NamespaceType[]).flatMap((type) => {
    const [file, entry] = [NAMESPACE_FILES[type], asked.get(type)];
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
