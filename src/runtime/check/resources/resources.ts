import { MEMORY_POLICY_FLAGS, MEMORY_POLICY_MODES } from "../../../shared/linux/index.ts";
import { policyNodeList } from "../../config/index.ts";
import { pointerToken } from "../../spec/index.ts";
import { defenceDisabled } from "../../testing/index.ts";
import type { Check } from "../finding.ts";

const MEMORY = "/linux/resources/memory";

/** config-linux, memory: -1 is unlimited, nothing else below zero; swap counts memory and swap; swappiness is 0 to 100. */
export const memoryLimits: Check = ({ linux }, report) => {
  const memory = linux?.resources?.memory;
  if (!memory) return;
  for (const field of ["limit", "reservation", "swap", "kernelTCP"] as const) {
    const value = memory[field];
    if (value !== null && value !== undefined && value < -1)
      report.error("memory-negative", `${MEMORY}/${field}`, `memory.${field}: ${value} is not a size`, "-1 is unlimited");
  }
  const { limit, swap, swappiness } = memory;
  if (limit && swap && limit > 0 && swap > 0 && swap < limit) {
    report.error("memory-swap-low", `${MEMORY}/swap`, `memory+swap limit should be >= memory limit: ${swap} < ${limit}`);
  }
  if (swappiness && swappiness > 100)
    report.error("memory-swappiness", `${MEMORY}/swappiness`, `memory.swappiness: ${swappiness} is not between 0 and 100`);
};

/** config-linux, cpu: a burst is part of the quota. */
export const cpuBurst: Check = ({ linux }, report) => {
  const { burst, quota } = linux?.resources?.cpu ?? {};
  if (burst && quota && quota > 0 && burst > quota) {
    report.error("cpu-burst", "/linux/resources/cpu/burst", `cpu.burst: ${burst} is above cpu.quota ${quota}`);
  }
};

const LOWEST_WEIGHT = 10;
const HIGHEST_WEIGHT = 1000;
type Weight = number | null | undefined;

/** config-linux, block IO: weights are 10 to 1000 (zero is not given); an entry of weightDevice sets at least one. */
export const blockIO: Check = ({ linux }, report) => {
  const checkWeights = (weights: { weight?: Weight; leafWeight?: Weight }, pointer: string) => {
    for (const field of ["weight", "leafWeight"] as const) {
      const value = weights[field];
      if (!value || (value >= LOWEST_WEIGHT && value <= HIGHEST_WEIGHT)) continue;
      report.error(
        "weight-range",
        `${pointer}/${field}`,
        `blockIO.${field}: ${value} is not between ${LOWEST_WEIGHT} and ${HIGHEST_WEIGHT}`,
      );
    }
  };
  checkWeights(linux?.resources?.blockIO ?? {}, "/linux/resources/blockIO");
  (linux?.resources?.blockIO?.weightDevice ?? []).forEach((device, index) => {
    checkWeights(device, `/linux/resources/blockIO/weightDevice/${index}`);
  });
  (linux?.resources?.blockIO?.weightDevice ?? []).forEach(({ major, minor, weight, leafWeight }, index) => {
    if (weight || leafWeight) return;
    report.error(
      "weight-device-empty",
      `/linux/resources/blockIO/weightDevice/${index}`,
      `blockIO.weightDevice: ${major}:${minor} has neither weight nor leafWeight`,
    );
  });
};

const isGiven = (value: unknown): boolean => value !== null && value !== undefined;

/** config-linux, huge pages: a page size is a number and its unit, as in the names of the kernel's files (2MB, 64KB). */
export const pageSizes: Check = ({ linux }, report) => {
  const limits: readonly { readonly pageSize: string; readonly pagesize?: string }[] = linux?.resources?.hugepageLimits ?? [];
  limits.forEach(({ pageSize, pagesize }, index) => {
    if (pagesize === pageSize)
      report.warning(
        "field-case-taken",
        `/linux/resources/hugepageLimits/${index}/pagesize`,
        'hugepageLimits: "pagesize" is taken for "pageSize"',
      );
    if (/^[1-9][0-9]*[KMGT]B$/.test(pageSize)) return;
    report.error(
      "page-size",
      `/linux/resources/hugepageLimits/${index}/pageSize`,
      `hugepageLimits: "${pageSize}" is not a page size`,
      "2MB, 1GB, 64KB",
    );
  });
};

/** config-linux, RDMA: an entry sets at least one limit. */
export const rdmaLimits: Check = ({ linux }, report) => {
  for (const [name, { hcaHandles, hcaObjects }] of Object.entries(linux?.resources?.rdma ?? {})) {
    if (isGiven(hcaHandles) || isGiven(hcaObjects)) continue;
    report.error("rdma-empty", `/linux/resources/rdma/${pointerToken(name)}`, `rdma: "${name}" has neither hcaHandles nor hcaObjects`);
  }
};

/** config-linux, unified: keys are file names of the form controller.parameter. */
export const unifiedKeys: Check = ({ linux }, report) => {
  for (const key of Object.keys(linux?.resources?.unified ?? {})) {
    const dot = key.indexOf(".");
    if (!key.includes("/") && dot > 0 && dot < key.length - 1) continue;
    report.error(
      "unified-key",
      `/linux/resources/unified/${pointerToken(key)}`,
      `unified resource "${key}" must be a file name of the form controller.parameter`,
    );
  }
};

/** config-linux, cgroups path: nothing outside the hierarchy. */
export const cgroupsPath: Check = ({ linux }, report) => {
  const path = linux?.cgroupsPath;
  if (path?.split("/").includes("..") && !defenceDisabled("cgroup-path")) {
    report.error("cgroups-path", "/linux/cgroupsPath", `linux.cgroupsPath: "${path}" must not contain ".."`);
  }
};

const BASE = "/linux/intelRdt";
/** What resctrl itself keeps in its root directory. */
const NO_GROUPS = [".", "..", "info", "mon_groups", "mon_data"];

/** config-linux, IntelRdt: closID is the name of one directory, or "/" for the default group. */
export const intelRdtGroup: Check = ({ linux }, report) => {
  const closId = linux?.intelRdt?.closID;
  if (!closId || closId === "/") return;
  if (!NO_GROUPS.includes(closId) && !/[/\n\0]/.test(closId)) return;
  report.error("intel-rdt-group", `${BASE}/closID`, `linux.intelRdt: closID ${JSON.stringify(closId)} is no name of a group`);
};

/** config-linux, IntelRdt: every schema is one line, that of the memory bandwidth starts with MB:. */
export const intelRdtSchemas: Check = ({ linux }, report) => {
  const { l3CacheSchema, memBwSchema, schemata } = linux?.intelRdt ?? {};
  const line = (field: string, text: string | null | undefined) => {
    if (text && /[\n\0]/.test(text)) report.error("intel-rdt-line", `${BASE}/${field}`, `linux.intelRdt: ${field} must be one line`);
  };
  line("l3CacheSchema", l3CacheSchema);
  line("memBwSchema", memBwSchema);
  schemata?.forEach((text, index) => {
    line(`schemata/${index}`, text);
  });
  if (memBwSchema && !memBwSchema.startsWith("MB:"))
    report.error("intel-rdt-bandwidth", `${BASE}/memBwSchema`, 'linux.intelRdt: memBwSchema must start with "MB:"');
  if (l3CacheSchema && !l3CacheSchema.startsWith("L3:"))
    report.warning("intel-rdt-cache", `${BASE}/l3CacheSchema`, 'linux.intelRdt: l3CacheSchema should start with "L3:"');
};

const MEMORY_POLICY = "/linux/memoryPolicy";
const WITHOUT_NODES = ["MPOL_DEFAULT", "MPOL_LOCAL"];
/** MPOL_PREFERRED without a node prefers the local one. */
const NODES_OPTIONAL = "MPOL_PREFERRED";
/** set_mempolicy(2); PREFERRED_MANY since Linux 6.9. */
const BALANCED = ["MPOL_BIND", "MPOL_PREFERRED_MANY"];

/** config-linux, memory policy, in runc's words: mode is required and known; its nodes. */
export const memoryPolicy: Check = ({ linux }, report) => {
  const policy = linux?.memoryPolicy;
  if (!policy) return;
  const { mode, nodes } = policy;
  const refuseNodes = (reason: string) =>
    report.error("memory-policy-nodes", `${MEMORY_POLICY}/nodes`, `invalid memory policy nodes: ${reason}`);
  if (!mode || !Object.hasOwn(MEMORY_POLICY_MODES, mode)) {
    report.error(
      "memory-policy-mode",
      `${MEMORY_POLICY}/mode`,
      mode ? `invalid memory policy mode ${JSON.stringify(mode)}` : "invalid memory policy mode: required but missing",
      `one of ${Object.keys(MEMORY_POLICY_MODES).join(", ")}`,
    );
  } else if (WITHOUT_NODES.includes(mode)) {
    if (nodes) refuseNodes(`${mode} mode requires 0 nodes but got ${countOf(nodes)}`);
  } else if (!nodes && mode !== NODES_OPTIONAL) refuseNodes(`${mode} needs at least one node`);
};

/** As runc says it; the text itself where it is no list. */
function countOf(nodes: string): string {
  try {
    return `${policyNodeList(nodes).length}`;
  } catch {
    return JSON.stringify(nodes);
  }
}

/** set_mempolicy(2): known flags, and only together with what they can change. */
export const memoryPolicyFlags: Check = ({ linux }, report) => {
  const { mode, nodes, flags } = linux?.memoryPolicy ?? {};
  if (!mode || !flags) return;
  const refuse = (index: number, message: string) =>
    report.error("memory-policy-flag", `${MEMORY_POLICY}/flags/${index}`, `invalid memory policy flag${message}`);
  const [relative, fixed] = [flags.indexOf("MPOL_F_RELATIVE_NODES"), flags.indexOf("MPOL_F_STATIC_NODES")];
  flags.forEach((flag, index) => {
    if (!Object.hasOwn(MEMORY_POLICY_FLAGS, flag)) refuse(index, ` ${JSON.stringify(flag)}`);
    else if (WITHOUT_NODES.includes(mode) || (!nodes && mode === NODES_OPTIONAL)) refuse(index, `: ${flag} has no effect without nodes`);
    else if (flag === "MPOL_F_NUMA_BALANCING" && !BALANCED.includes(mode)) refuse(index, `: ${flag} does not go with ${mode}`);
    else if (index === Math.max(relative, fixed) && Math.min(relative, fixed) >= 0)
      refuse(index, ": MPOL_F_STATIC_NODES and MPOL_F_RELATIVE_NODES exclude each other");
  });
};
