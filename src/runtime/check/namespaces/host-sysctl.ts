import { sysctlPath } from "../../config/index.ts";
import { pointerToken, type Spec } from "../../spec/index.ts";
import type { HostCheck } from "../host/container-files.ts";
import type { BundleView } from "../host/view.ts";
import { closeTo } from "./host-namespaces.ts";
import { namespaceOf } from "./namespaces.ts";
import { anyNumbers, isTaken, numbersOf } from "./sysctl.ts";

/** Settings of one interface are there when the interface is. */
const OF_INTERFACE = /^net\/ipv[46]\/(?:conf|neigh)\/([^/]+)\//;

/** Of no interface, or of the one that is always there. */
const OF_ALL = ["all", "default", "lo"];

/** Those that every network namespace has; fallback devices of tunnels come with their modules. */
const OF_EACH = /^(?:all|default|lo|tunl0|gre0|gretap0|erspan0|ip_vti0|ip6_vti0|sit0|ip6tnl0|ip6gre0)$/;

/** Numbers that the kernel keeps in a byte since this release. */
const IN_A_BYTE = ["net/ipv4/tcp_syncookies", "net/ipv4/tcp_keepalive_probes"];
const SINCE = [5, 13] as const;

/** Of net/core, what each network namespace has for itself. */
const CORE_OF_EACH = /^net\/core\/(?:somaxconn|optmem_max|txrehash|tstamp_allow_data|rps_default_mask|xfrm_\w+)$/;

/** What only the first network namespace has, or only it may change. */
const OF_THE_FIRST =
  /^net\/(?:core\/.*|ipv4\/(?:(?:tcp|udp)_mem|tcp_max_orphans|tcp_low_latency|fib_sync_mem|inet_peer_\w+|ipfrag_secret_interval|cipso_\w+|route\/(?:error_\w+|gc_\w+|max_size|redirect_\w+))|ipv6\/(?:calipso_\w+|ip6frag_secret_interval|mld_max_msf|mld_qrv)|ipv[46]\/neigh\/default\/gc_(?:interval|thresh[123])|nf_conntrack_max|netfilter\/(?:nf_conntrack_(?:max|expect_max|buckets)|nf_log_all_netns))$/;

/** proc(5), /proc/sys: the kernel has such a setting. (Of the network, those that the host's namespace shows.) */
export const sysctlFiles: HostCheck = (spec, report, { view }) => {
  const tree = view.live ? view.tree("/") : undefined;
  if (tree === undefined) return;
  const isNew = hasNewNetwork(spec);
  for (const [key, value] of Object.entries(spec.linux?.sysctl ?? {})) {
    const path = sysctlPath(key);
    const pointer = `/linux/sysctl/${pointerToken(key)}`;
    if (path.split("/").includes("..")) continue;
    const file = tree.look(`/proc/sys/${path}`);
    const [, name] = OF_INTERFACE.exec(path) ?? [];
    if (name !== undefined && isNew && isAlone(spec) && !OF_EACH.test(name)) {
      report.error("sysctl-interface", pointer, `sysctl "${key}": a new network namespace has no interface "${name}"`);
      continue;
    }
    if (file === undefined) {
      if (name !== undefined && !OF_ALL.includes(name)) continue;
      const slash = path.lastIndexOf("/");
      const close = closeTo(path.slice(slash + 1), tree.names(`/proc/sys/${path.slice(0, slash)}`));
      const dotted = `${path.slice(0, slash)}/`.replaceAll("/", ".");
      const meant = close.length > 0 ? `; did you mean ${close.map((name) => dotted + name).join(" or ")}?` : "";
      report.error("sysctl-absent", pointer, `this kernel has no sysctl "${key}"${meant}`);
    } else if (file.kind === "directory")
      report.error("sysctl-directory", pointer, `sysctl "${key}" is a directory of settings, not one of them`);
    else if ((file.mode & 0o200) === 0) report.error("sysctl-read-only", pointer, `sysctl "${key}" can only be read`);
    else if (path === "kernel/domainname" && !isRootOfHost(spec))
      report.error(
        "sysctl-user-namespace",
        pointer,
        `sysctl "${key}" can be written by the host's root alone, who is not in the user namespace`,
      );
    else if (isNew && OF_THE_FIRST.test(path) && !CORE_OF_EACH.test(path))
      report.error("sysctl-first-namespace", pointer, `sysctl "${key}" belongs to the host's network namespace, a new one cannot set it`);
    else if (value === "") continue;
    else if (path === "net/ipv4/ping_group_range" && isTaken(value, GROUPS) && !areMapped(spec, value))
      report.error("sysctl-groups", pointer, `sysctl "${key}": a group of "${value}" is not mapped in the container`);
    else if (!isOfItsForm(view, path, value))
      report.error("sysctl-form", pointer, `sysctl "${key}" takes numbers on this host, not "${value}"`);
    else if (IN_A_BYTE.includes(path) && isSince(view) && !isTaken(value, BYTE))
      report.error("sysctl-limit", pointer, `sysctl "${key}" takes a number between 0 and 255 on this host, not "${value}"`);
    else if (IDS_OF_IPC.includes(path) && !isExtended(view) && !isTaken(value, IPC_IDS))
      report.error("sysctl-limit", pointer, `sysctl "${key}" takes a number between 0 and ${IPC_IDS.most} on this host, not "${value}"`);
  }
};

const BYTE = { count: 1, least: 0n, most: 255n };
const IPC_IDS = { count: 1, least: 0n, most: 32_768n };
const IDS_OF_IPC = ["kernel/shmmni", "kernel/msgmni"];

/** The kernel was booted with more ids for System V IPC. */
const isExtended = (view: BundleView): boolean => /(?:^|\s)ipcmni_extend(?:\s|$)/.test(view.text("/proc/cmdline") ?? "");

function isSince({ facts }: BundleView): boolean {
  const [major = 0, minor = 0] = (facts.kernel?.release ?? "").split(".").map(Number);
  return major > SINCE[0] || (major === SINCE[0] && minor >= SINCE[1]);
}

function hasNewNetwork(spec: Spec): boolean {
  const network = namespaceOf(spec, "network");
  return network !== undefined && !network.path;
}

/** Nothing is known that would bring interfaces. */
function isAlone({ hooks, linux }: Spec): boolean {
  // All of these run before the settings are written.
  const bringing = [...(hooks?.prestart ?? []), ...(hooks?.createRuntime ?? []), ...(hooks?.createContainer ?? [])];
  return bringing.length === 0 && Object.keys(linux?.netDevices ?? {}).length === 0;
}

/** Settings of interfaces are of this size. */
const OF_CONF = /^net\/ipv[46]\/conf\//;
const INT = { least: -0x8000_0000n, most: 0x7fff_ffffn };

/** user_namespaces(7): a group that a new user namespace does not have cannot be named in it. */
function areMapped(spec: Spec, value: string): boolean {
  const user = namespaceOf(spec, "user");
  const mappings = spec.linux?.gidMappings;
  if (user === undefined || user.path || !mappings) return true;
  return numbersOf(value, GROUPS.count).every((group) =>
    mappings.some(({ containerID, size }) => group >= BigInt(containerID) && group < BigInt(containerID) + BigInt(size)),
  );
}

const GROUPS = { count: 2, least: 0n, most: 4_294_967_294n };

/** Whether the container's root is the host's. Of a user namespace that is joined, nothing is known. */
function isRootOfHost(spec: Spec): boolean {
  const user = namespaceOf(spec, "user");
  if (user === undefined || user.path) return true;
  return spec.linux?.uidMappings?.some(({ containerID, hostID }) => containerID === 0 && hostID === 0) ?? true;
}

/** Lists of ports and masks of CPUs, which look like one number as long as they are short (kernel, Documentation/admin-guide/sysctl/net.rst). */
const LIKE_NUMBERS = ["net/ipv4/ip_local_reserved_ports", "net/core/rps_default_mask", "net/core/flow_limit_cpu_bitmap"];

/** What has numbers now takes numbers only. */
function isOfItsForm(view: BundleView, path: string, value: string): boolean {
  if (LIKE_NUMBERS.includes(path)) return true;
  const words = view.text(`/proc/sys/${path}`)?.trim().split(/\s+/) ?? [];
  if (words.length === 0 || !words.every((word) => /^-?\d+$/.test(word))) return true;
  return isTaken(value, OF_CONF.test(path) ? { count: words.length, ...INT } : anyNumbers(words.length));
}
