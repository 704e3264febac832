import { NAMESPACE_TYPES, pointerToken } from "../../spec/index.ts";
import type { HostCheck } from "../host/host-check.ts";

const isKnown = (type: string): boolean => (NAMESPACE_TYPES as readonly string[]).includes(type);

/** namespaces(7): the kernel has this kind, and lets more of them be made. */
export const hostNamespaces: HostCheck = ({ linux }, report, { view: { facts } }) => {
  const known = (linux?.namespaces ?? []).length > 0 ? facts.namespaces : [];
  linux?.namespaces?.forEach(({ type, path }, index) => {
    const pointer = `/linux/namespaces/${index}/type`;
    if (known && known.length > 0 && isKnown(type) && !known.includes(type))
      report.error("namespace-unsupported", pointer, `the kernel of this host has no ${type} namespaces`);
    if (type === "user" && !path && facts.userNamespaces === 0)
      report.error("user-namespaces-off", pointer, "this host lets nobody make user namespaces (user.max_user_namespaces is 0)");
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
