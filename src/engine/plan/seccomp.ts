/** Builds the default seccomp filter, as linux.seccomp of an OCI configuration. Pure. */
import type { OciObject } from "../../executor/index.ts";
import { ALLOWED, ARCHITECTURES, NEVER, PRIVILEGED } from "./seccomp-profile.ts";

/** errno(3) */
const EPERM = 1;
const ENOSYS = 38;
/** Flags of clone(2) for all namespaces except time, whose bit has another meaning there. */
const CLONE_NAMESPACES = 0x7e02_0000;
/** vsock(7) reaches the hypervisor and bypasses network namespaces. */
const AF_VSOCK = 40;
/**
 * Values of personality(2): PER_LINUX and PER_LINUX32, each also with the version number 2.6, and the
 * query of the current value. Other values make addresses predictable or memory executable.
 */
const PERSONALITIES = [0, 8, 0x2_0000, 0x2_0008, 0xffff_ffff];

/** @param capabilities of the container. @param architecture as in Node's process.arch; for an unknown one only native calls are allowed */
export function defaultSeccomp(capabilities: readonly string[], architecture: string): OciObject {
  const granted = new Set(capabilities.flatMap((name) => PRIVILEGED[name] ?? []));
  const refused = new Set(Object.values(PRIVILEGED).flat());
  const isAdministrator = capabilities.includes("CAP_SYS_ADMIN");
  return {
    defaultAction: "SCMP_ACT_ERRNO",
    defaultErrnoRet: ENOSYS,
    ...(ARCHITECTURES[architecture] ? { architectures: ARCHITECTURES[architecture] } : {}),
    syscalls: [
      allow([...ALLOWED, ...granted]),
      refuse([...[...refused].filter((name) => !granted.has(name)), ...NEVER]),
      ...(isAdministrator ? [allow(["clone", "clone3"])] : cloneRules()),
      ...PERSONALITIES.map((value) => allow(["personality"], { value, op: "SCMP_CMP_EQ" })),
      allow(["socket"], { value: AF_VSOCK, op: "SCMP_CMP_NE" }),
    ],
  };
}

/** clone3 passes its flags in memory, where seccomp cannot see them. It fails with ENOSYS, so that libraries use clone. */
function cloneRules(): OciObject[] {
  return [allow(["clone"], { value: CLONE_NAMESPACES, valueTwo: 0, op: "SCMP_CMP_MASKED_EQ" })];
}

interface FirstArgument {
  readonly value: number;
  readonly valueTwo?: number;
  readonly op: string;
}

function allow(names: readonly string[], argument?: FirstArgument): OciObject {
  return { names, action: "SCMP_ACT_ALLOW", ...(argument === undefined ? {} : { args: [{ index: 0, ...argument }] }) };
}

function refuse(names: readonly string[]): OciObject {
  return { names, action: "SCMP_ACT_ERRNO", errnoRet: EPERM };
}
