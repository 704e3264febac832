import { findAll, readSize, roleOf, sizeKey } from "../../config/index.ts";
import { closeNames, NAMESPACE_TYPES, pointerToken } from "../../spec/index.ts";
import type { HostCheck } from "../host/container-files.ts";
import type { Tree } from "../host/view.ts";

const isKnown = (type: string): boolean => (NAMESPACE_TYPES as readonly string[]).includes(type);

/** namespaces(7): the kernel has this kind, and lets more of them be made. */
export const hostNamespaces: HostCheck = ({ linux }, report, { view: { facts } }) => {
  const known = (linux?.namespaces ?? []).length > 0 ? facts.namespaces : [];
  linux?.namespaces?.forEach(({ type, path }, index) => {
    const pointer = `/linux/namespaces/${index}/type`;
    if (known && known.length > 0 && isKnown(type) && !known.includes(type))
      report.error("namespace-unsupported", pointer, `the kernel of this host has no ${type} namespaces`);
    if (type === "user" && !path && facts.userNamespaces === 0)
      report.error("user-namespaces-off", pointer, "this host allows no user namespaces (user.max_user_namespaces is 0)");
  });
};

/** setns(2): a path to join leads to a namespace of the type that is asked for, and not to the caller's own where that must stay as it is. */
export const namespaceFiles: HostCheck = (spec, report, { view }) => {
  if (!view.live) return;
  const own = new Set<string>();
  spec.linux?.namespaces?.forEach(({ type, path }, index) => {
    if (!path?.startsWith("/") || !isKnown(type)) return;
    const pointer = `/linux/namespaces/${index}/path`;
    const found = view.stat(path);
    if (found === undefined) {
      report.error("namespace-path-missing", pointer, `"${path}" does not exist`);
      return;
    }
    const namespace = view.namespace(path);
    if (namespace === "denied") report.error("namespace-path-denied", pointer, `"${path}" cannot be opened: permission denied`);
    else if (found === "unknown") return;
    else if (namespace === undefined) report.error("namespace-path-kind", pointer, `"${path}" is not a namespace`);
    else if (namespace.type !== type) report.error("namespace-path-kind", pointer, `"${path}" is of type ${namespace.type}, not ${type}`);
    else if (namespace.own) own.add(type);
  });
  const refuse = (type: string, pointer: string, what: string) => {
    if (own.has(type))
      report.error("namespace-own", pointer, `${what} would change the host: the ${type} namespace that is joined is the runtime's own`);
  };
  if (spec.hostname) refuse("uts", "/hostname", "hostname");
  if (spec.domainname) refuse("uts", "/domainname", "domainname");
  if (Object.keys(spec.linux?.netDevices ?? {}).length > 0) refuse("network", "/linux/netDevices", "linux.netDevices");
  for (const key of Object.keys(spec.linux?.sysctl ?? {})) {
    const type =
      key.startsWith("net.") || key.startsWith("net/")
        ? "network"
        : key.startsWith("user")
          ? "user"
          : /domainname/.test(key)
            ? "uts"
            : "ipc";
    refuse(type, `/linux/sysctl/${pointerToken(key)}`, `sysctl "${key}"`);
  }
};

const at = (key: string): string => `/annotations/${pointerToken(key)}`;
const MIB = 2n ** 20n;
/** A name below the state directory. */
const ID = /^[\w+.-]*[\w+-][\w+.-]*$/;

/** Managers whose sandbox always is a container of the same runtime. CRI-O (and Podman, with its words) may do without one. */
const WITH_CONTAINER: ReadonlySet<string> = new Set(["containerd", "dockershim"]);

/** The sandbox that a container names must exist. */
export const sandboxThere: HostCheck = ({ annotations }, report, { view }) => {
  const [type] = findAll(annotations, "typeKey");
  const [id] = findAll(annotations, "idKey");
  if (!view.live || !type || !id || roleOf(type.value) !== "container" || !WITH_CONTAINER.has(type.manager.name)) return;
  const root = view.facts.caller?.stateRoot;
  if (root === undefined || (ID.test(id.value) && view.stat(`${root}/${id.value}`) !== undefined)) return;
  report.warning("sandbox-gone", at(id.key), `there is no sandbox "${id.value}" below ${root}`);
};

/** A pod that may use more than there is has no limit. */
export const sandboxFits: HostCheck = ({ annotations }, report, { view: { facts } }) => {
  const memory = readSize(annotations, "memory");
  const total = facts.memory?.total ?? 0;
  if (typeof memory !== "bigint" || total === 0 || memory <= BigInt(total) * MIB || memory >= 1n << 62n) return;
  report.advice("sandbox-above-host", at(sizeKey("memory")), `${memory} bytes are more than this host has (${total} MiB)`);
};

/** time_namespaces(7): the clocks, with their offsets, do not go below zero. */
export const clocks: HostCheck = ({ linux }, report, { view }) => {
  if (!view.live || !linux?.timeOffsets) return;
  const uptime = Number(view.text("/proc/uptime")?.split(" ", 1)[0]);
  if (!Number.isFinite(uptime)) return;
  for (const clock of ["monotonic", "boottime"]) {
    const secs = Number(linux.timeOffsets[clock]?.secs ?? 0);
    // boottime also counts the time that the machine has slept, which makes it no smaller.
    if (secs + uptime < 0)
      report.error(
        "time-offset-negative",
        `/linux/timeOffsets/${clock}/secs`,
        `linux.timeOffsets: ${secs} s would set the ${clock} clock back below zero, the host is up for ${Math.floor(uptime)} s`,
      );
  }
};

/** Directories with more names than this are not searched for a close one. */
const MOST = 5000;

/** What is nearest to a path that is not there: a close name beside it, or else the last directory that exists. */
export function nearest(tree: Tree, path: string): string | undefined {
  const parts = path.split("/").filter((part) => part !== "");
  let there = "";
  for (const [index, part] of parts.entries()) {
    const next = `${there}/${part}`;
    const facts = tree.look(next);
    if (facts !== undefined) {
      // Where a link leads is not looked into.
      if (facts.kind === "symlink") return undefined;
      there = next;
      continue;
    }
    const [close] = closeTo(part, tree.names(there || "/"));
    if (close === undefined) return there || "/";
    const whole = [there, close, ...parts.slice(index + 1)].join("/");
    return tree.look(whole) === undefined ? `${there}/${close}` : whole;
  }
  return undefined;
}

export function closeTo(wanted: string, names: readonly string[]): readonly string[] {
  return names.length > MOST ? [] : closeNames(wanted, names);
}
