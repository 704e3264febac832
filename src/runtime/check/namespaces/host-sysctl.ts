import { sysctlPath } from "../../config/index.ts";
import { pointerToken } from "../../spec/index.ts";
import type { HostCheck } from "../host/host-check.ts";
import { closeTo } from "./host-names.ts";

/** Settings of one interface are there when the interface is. */
const OF_INTERFACE = /^net\/ipv[46]\/(?:conf|neigh)\//;

/** proc(5), /proc/sys: the kernel has such a setting. (Of the network, those that the host's namespace shows.) */
export const sysctlFiles: HostCheck = ({ linux }, report, { view }) => {
  const tree = view.live ? view.tree("/") : undefined;
  if (tree === undefined) return;
  for (const key of Object.keys(linux?.sysctl ?? {})) {
    const path = sysctlPath(key);
    if (OF_INTERFACE.test(path) || path.includes("..") || tree.look(`/proc/sys/${path}`) !== undefined) continue;
    const slash = path.lastIndexOf("/");
    const close = closeTo(path.slice(slash + 1), tree.names(`/proc/sys/${path.slice(0, slash)}`));
    const dotted = `${path.slice(0, slash)}/`.replaceAll("/", ".");
    const meant = close.length > 0 ? `; did you mean ${close.map((name) => dotted + name).join(" or ")}?` : "";
    report.error("sysctl-absent", `/linux/sysctl/${pointerToken(key)}`, `this kernel has no sysctl "${key}"${meant}`);
  }
};
