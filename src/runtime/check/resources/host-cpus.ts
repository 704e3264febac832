import { cpuList, nodeList } from "../../config/index.ts";
import type { Report } from "../finding.ts";
import type { HostCheck } from "../host/container-files.ts";
import type { BundleView } from "../host/view.ts";

/** undefined: the text is no list, which is said where it is derived. */
function numbers(text: string, parse: typeof cpuList, pointer: string): readonly number[] | undefined {
  try {
    return parse(text, pointer);
  } catch {
    return undefined;
  }
}

interface Kind {
  readonly what: string;
  readonly field: "cpus" | "mems";
  readonly code: string;
  readonly parse: typeof cpuList;
  readonly online: string;
  /** Those that may come online; undefined: it is not known. */
  readonly possible: string | undefined;
}

/** In words, those of a list that are not in another one; undefined: all of them are, or the other one is not known. */
function missing(text: string, there: string | undefined, { what, field, parse }: Kind): string | undefined {
  const pointer = `/linux/resources/cpu/${field}`;
  if (!there) return undefined;
  const offered = numbers(there, parse, pointer) ?? [];
  const others = numbers(text, parse, pointer)?.filter((number) => !offered.includes(number)) ?? [];
  if (others.length === 0) return undefined;
  const are = ({ length }: readonly number[]): string => (length === 1 ? "is" : "are");
  return `${what} ${others.slice(0, 4).join(", ")} ${are(others)} not there for it (${there} ${are(offered)})`;
}

/** cpuset(7): v1 refuses what the root does not have. cgroup-v2.rst, cpuset.cpus: v2 takes all that are possible, and uses those that are there. */
function checkList(report: Report, view: BundleView, text: string, kind: Kind): void {
  const pointer = `/linux/resources/cpu/${kind.field}`;
  const granted = rootSet(view, kind.field, kind.online);
  const isV2 = view.facts.cgroup?.version === 2;
  const refused = missing(text, isV2 ? kind.possible : granted, kind);
  if (refused !== undefined) {
    report.error(kind.code, pointer, refused);
    return;
  }
  const unused = isV2 ? missing(text, granted, kind) : undefined;
  if (unused !== undefined) report.warning("cpuset-not-granted", pointer, unused);
}

/** What the root of the cpuset hierarchy holds; the online ones where that cannot be read. */
function rootSet({ facts, live, text }: BundleView, file: "cpus" | "mems", online: string): string {
  const hierarchy = facts.cgroup?.hierarchies.find(({ controllers }) => controllers.includes("cpuset"));
  if (!live || hierarchy === undefined) return online;
  const name = facts.cgroup?.version === 2 ? `cpuset.${file}.effective` : `cpuset.${file}`;
  return text(`${hierarchy.mountpoint}/${name}`)?.trim() || online;
}

/** config-linux, cpu: cpus and mems exist, and are not kept from all containers. Also execCPUAffinity (config, process). */
export const affinityCpus: HostCheck = ({ linux, process }, report, { view }) => {
  const { cpus, mems } = linux?.resources?.cpu ?? {};
  if (!cpus && !mems && !process?.execCPUAffinity) return;
  const { online = "", memoryNodes = "", possible, possibleNodes } = view.facts.cpus ?? {};
  if (cpus) checkList(report, view, cpus, { what: "CPU", field: "cpus", code: "cpus-offline", parse: cpuList, online, possible });
  if (mems) {
    const nodes = { online: memoryNodes, possible: possibleNodes };
    checkList(report, view, mems, { what: "memory node", field: "mems", code: "nodes-offline", parse: nodeList, ...nodes });
  }
  const { initial, final } = process?.execCPUAffinity ?? {};
  if (online === "") return;
  for (const [field, text] of Object.entries({ initial, final })) {
    const pointer = `/process/execCPUAffinity/${field}`;
    const wanted = text ? numbers(text, cpuList, pointer) : undefined;
    if (wanted && wanted.length > 0 && !wanted.some((cpu) => numbers(online, cpuList, pointer)?.includes(cpu)))
      report.warning("affinity-offline", pointer, `none of the CPUs ${text} is online (${online} ${/[,-]/.test(online) ? "are" : "is"})`);
  }
};

/** set_mempolicy(2): nodes that have memory. */
export const memoryNodes: HostCheck = ({ linux }, report, { view: { facts } }) => {
  const pointer = "/linux/memoryPolicy/nodes";
  if (!linux?.memoryPolicy?.nodes) return;
  const online = numbers(facts.cpus?.memoryNodes ?? "", nodeList, pointer) ?? [];
  const wanted = numbers(linux.memoryPolicy.nodes, nodeList, pointer) ?? [];
  if (online.length === 0 || wanted.length === 0 || wanted.some((node) => online.includes(node))) return;
  report.error("nodes-offline", pointer, `none of the memory nodes ${linux?.memoryPolicy?.nodes} is online (${facts.cpus?.memoryNodes})`);
};

/** config-linux, cpu: a quota of more CPUs than there are limits nothing. */
export const quotaAboveHost: HostCheck = ({ linux }, report, { view: { facts } }) => {
  const { quota, period } = linux?.resources?.cpu ?? {};
  if (!quota || quota < 0) return;
  const online = numbers(facts.cpus?.online ?? "", cpuList, "") ?? [];
  if (online.length === 0 || facts.memory?.total === 0) return;
  const cpus = Number(quota) / Number(period || 100_000);
  if (cpus > online.length)
    report.warning(
      "cpu-quota-host",
      "/linux/resources/cpu/quota",
      `cpu.quota: ${Number(cpus.toFixed(2))} CPUs are more than this host has (${online.length})`,
    );
};
