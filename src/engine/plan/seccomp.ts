/** The default filter of system calls, as linux.seccomp of an OCI configuration. Pure. */
import type { OciObject } from "../../executor/index.ts";
import { ALLOWED, ARCHITECTURES, NEVER, PRIVILEGED } from "./seccomp-profile.ts";

/** errno(3) */
const EPERM = 1;
const ENOSYS = 38;
/** clone(2): every namespace but that of time, whose bit means something else there. */
const CLONE_NAMESPACES = 0x7e02_0000;
/** vsock(7): it leads to the hypervisor, past every network namespace. */
const AF_VSOCK = 40;
/** personality(2): PER_LINUX and PER_LINUX32, either as Linux 2.6; and the question which it is. Others make memory predictable or executable. */
const PERSONALITIES = [0, 8, 0x2_0000, 0x2_0008, 0xffff_ffff];

/** @param capabilities those of the container. @param architecture as Node calls it; one that is not known has its own calls only */
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

/** Its flags are in memory with clone3, where no filter sees them: libraries take clone when there is none. */
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
