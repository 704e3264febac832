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

function checkList(
  report: Report,
  code: string,
  pointer: string,
  text: string | null | undefined,
  parse: typeof cpuList,
  there: string,
  what: string,
): void {
  if (!text || there === "") return;
  const offered = numbers(there, parse, pointer) ?? [];
  const missing = numbers(text, parse, pointer)?.filter((number) => !offered.includes(number)) ?? [];
  if (missing.length === 0) return;
  report.error(
    code,
    pointer,
    `${what} ${missing.slice(0, 4).join(", ")} ${missing.length === 1 ? "is" : "are"} not there for it (${there} ${offered.length === 1 ? "is" : "are"})`,
  );
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
  const { online = "", memoryNodes = "" } = view.facts.cpus ?? {};
  if (cpus) checkList(report, "cpus-offline", "/linux/resources/cpu/cpus", cpus, cpuList, rootSet(view, "cpus", online), "CPU");
  if (mems)
    checkList(report, "nodes-offline", "/linux/resources/cpu/mems", mems, nodeList, rootSet(view, "mems", memoryNodes), "memory node");
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
