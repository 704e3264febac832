import { RuntError } from "../../errors/index.ts";
import * as host from "../../host/index.ts";
import { USUAL_LIST, USUAL_RULES } from "./emulator.ts";
import { deviceProgram } from "./program.ts";
import { decodeRules } from "./rule.ts";

const BPF_F_ALLOW_MULTI = 2;
const BPF_F_REPLACE = 4;
/** BPF_F_ALLOW_MULTI alone: no program is replaced. */
const NOTHING = -1;

/**
 * Make these rules (operation `cgroup.devices`) the device policy of a v2 cgroup, in place of what is attached to it.
 * The new program is attached before an old one goes, so that the policy is never open in between.
 */
export function attachDeviceProgram(directory: string, rules: readonly string[]): void {
  const program = programOf(rules);
  const cgroup = host.open(directory, host.O.RDONLY | host.O.DIRECTORY);
  const old: number[] = [];
  try {
    old.push(...host.bpfQueryDevice(cgroup));
    const [only] = old;
    if (program) attach(cgroup, program, old.length === 1 && only !== undefined ? only : NOTHING);
    if (!program || old.length > 1) for (const one of old) host.bpfDetachDevice(cgroup, one);
  } catch (error) {
    throw new RuntError("cgroup", `cannot set the device rules of ${directory}: ${host.reason(error)}`, {
      pointer: "/linux/resources/devices",
      cause: error,
    });
  } finally {
    for (const one of old) host.close(one);
    host.close(cgroup);
  }
}

function attach(cgroup: number, instructions: ArrayBuffer, replaced: number): void {
  const program = host.bpfLoadDeviceProgram(instructions);
  try {
    host.bpfAttachDevice(cgroup, program, replaced === NOTHING ? BPF_F_ALLOW_MULTI : BPF_F_ALLOW_MULTI | BPF_F_REPLACE, replaced);
  } finally {
    // The cgroup holds its own reference.
    host.close(program);
  }
}

const USUAL_PROGRAM = deviceProgram(USUAL_LIST);

/**
 * Only cgroup v2 has device programs. The one of most containers stands in the engine image, as their
 * rules do. undefined: everything is allowed.
 */
export function programOf(rules: readonly string[]): ArrayBuffer | undefined {
  if (rules === USUAL_RULES) return USUAL_PROGRAM;
  const list = decodeRules(rules);
  return list.defaultAllow && list.exceptions.length === 0 ? undefined : deviceProgram(list);
}
