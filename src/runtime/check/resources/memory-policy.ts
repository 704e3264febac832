import { MEMORY_POLICY_FLAGS, MEMORY_POLICY_MODES } from "../../../shared/linux/index.ts";
import { policyNodeList } from "../../config/index.ts";
import type { Check } from "../finding.ts";

const BASE = "/linux/memoryPolicy";
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
  const refuseNodes = (reason: string) => report.error("memory-policy-nodes", `${BASE}/nodes`, `invalid memory policy nodes: ${reason}`);
  if (!mode || !Object.hasOwn(MEMORY_POLICY_MODES, mode)) {
    report.error(
      "memory-policy-mode",
      `${BASE}/mode`,
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
    report.error("memory-policy-flag", `${BASE}/flags/${index}`, `invalid memory policy flag${message}`);
  const [relative, fixed] = [flags.indexOf("MPOL_F_RELATIVE_NODES"), flags.indexOf("MPOL_F_STATIC_NODES")];
  flags.forEach((flag, index) => {
    if (!Object.hasOwn(MEMORY_POLICY_FLAGS, flag)) refuse(index, ` ${JSON.stringify(flag)}`);
    else if (WITHOUT_NODES.includes(mode) || (!nodes && mode === NODES_OPTIONAL)) refuse(index, `: ${flag} has no effect without nodes`);
    else if (flag === "MPOL_F_NUMA_BALANCING" && !BALANCED.includes(mode)) refuse(index, `: ${flag} does not go with ${mode}`);
    else if (index === Math.max(relative, fixed) && Math.min(relative, fixed) >= 0)
      refuse(index, ": MPOL_F_STATIC_NODES and MPOL_F_RELATIVE_NODES exclude each other");
  });
};
