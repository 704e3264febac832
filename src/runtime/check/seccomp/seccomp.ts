import {
  canShareFilter,
  SECCOMP_ACTIONS,
  SECCOMP_ARCHITECTURES,
  SECCOMP_ERRNO_LIMIT,
  SECCOMP_FLAGS,
  SECCOMP_OPERATORS,
  type SpecSeccomp,
  surelyAllowed,
} from "../../spec/index.ts";
import type { Check, Report } from "../finding.ts";

const BASE = "/linux/seccomp";
/** seccomp(2): a system call has six arguments. */
const ARGUMENTS = 6;

/** config-linux, seccomp: known names, and numbers where the action carries one. An empty profile asks for nothing. */
export const seccompProfile: Check = ({ linux }, report) => {
  const seccomp = linux?.seccomp;
  if (!seccomp) return;
  const syscalls = seccomp.syscalls ?? [];
  if (!seccomp.defaultAction) {
    if (syscalls.length > 0) report.error("seccomp-default", `${BASE}/defaultAction`, "linux.seccomp.defaultAction: required but missing");
    return;
  }
  checkAction(report, seccomp.defaultAction, seccomp.defaultErrnoRet, BASE, ["defaultAction", "defaultErrnoRet"]);
  checkNames(report, seccomp.architectures ?? [], SECCOMP_ARCHITECTURES, "architectures", "seccomp-architecture");
  checkByteOrder(report, seccomp.architectures ?? []);
  checkNames(report, seccomp.flags ?? [], SECCOMP_FLAGS, "flags", "seccomp-flag");
  syscalls.forEach(({ action, errnoRet, names }, index) => {
    checkAction(report, action, errnoRet, `${BASE}/syscalls/${index}`, RULE_FIELDS);
    if ((names ?? []).length === 0)
      report.error("seccomp-names", `${BASE}/syscalls/${index}/names`, "linux.seccomp.syscalls: an entry names no system call");
  });
  checkArguments(report, syscalls);
};

/** config-linux, seccomp: the listener. */
export const seccompListener: Check = ({ linux }, report) => {
  const seccomp = linux?.seccomp;
  if (!seccomp) return;
  if (seccomp.listenerMetadata && !seccomp.listenerPath)
    report.error("seccomp-metadata", `${BASE}/listenerMetadata`, "linux.seccomp.listenerMetadata: useless without listenerPath");
  if (seccomp.defaultAction === "SCMP_ACT_NOTIFY")
    report.error(
      "seccomp-notify",
      `${BASE}/defaultAction`,
      "linux.seccomp.defaultAction: SCMP_ACT_NOTIFY would stop the container before anybody can listen",
    );
  const first = (seccomp.syscalls ?? []).findIndex(({ action }) => action === "SCMP_ACT_NOTIFY");
  if (first === -1) return;
  if (!seccomp.listenerPath)
    report.error("seccomp-listener", `${BASE}/syscalls/${first}/action`, "linux.seccomp: SCMP_ACT_NOTIFY needs listenerPath");
  if (!surelyAllowed(seccomp, ["sendmsg"]).has("sendmsg"))
    report.error(
      "seccomp-notify",
      `${BASE}/syscalls/${first}/action`,
      "linux.seccomp: SCMP_ACT_NOTIFY needs sendmsg to be allowed, which hands the listener over",
    );
  // init says behind the filter, with write(2), why a program could not be started: the message would wait for the listener.
  const write = (seccomp.syscalls ?? []).findIndex(({ action, names }) => action === "SCMP_ACT_NOTIFY" && names?.includes("write"));
  if (write !== -1)
    report.error(
      "seccomp-notify",
      `${BASE}/syscalls/${write}/names`,
      "linux.seccomp: SCMP_ACT_NOTIFY cannot be used for the write syscall",
    );
};

const RULE_FIELDS = ["action", "errnoRet"] as const;

type Syscalls = NonNullable<SpecSeccomp["syscalls"]>;

function checkAction(
  report: Report,
  action: string,
  errno: number | null | undefined,
  pointer: string,
  [actionName, errnoName]: readonly [string, string],
): void {
  if (!Object.hasOwn(SECCOMP_ACTIONS, action)) {
    report.error("seccomp-action", `${pointer}/${actionName}`, `linux.seccomp: unknown action ${JSON.stringify(action)}`);
    return;
  }
  if (errno === null || errno === undefined) return;
  const limit = SECCOMP_ERRNO_LIMIT[action];
  if (limit === undefined)
    report.error("seccomp-errno", `${pointer}/${errnoName}`, `linux.seccomp: ${action} has no ${errnoName}`, `leave ${errnoName} out`);
  else if (errno > limit)
    report.error("seccomp-errno", `${pointer}/${errnoName}`, `linux.seccomp: ${errnoName} ${errno} of ${action} is above ${limit}`);
}

function checkNames(report: Report, names: readonly string[], known: object, field: string, code: string): void {
  names.forEach((name, index) => {
    if (!Object.hasOwn(known, name))
      report.error(code, `${BASE}/${field}/${index}`, `linux.seccomp.${field}: unknown name ${JSON.stringify(name)}`);
  });
}

function checkByteOrder(report: Report, architectures: readonly string[]): void {
  architectures.forEach((name, index) => {
    if (!Object.hasOwn(SECCOMP_ARCHITECTURES, name) || canShareFilter(name as keyof typeof SECCOMP_ARCHITECTURES)) return;
    report.error(
      "seccomp-architecture-order",
      `${BASE}/architectures/${index}`,
      `linux.seccomp.architectures: ${name} is big-endian and cannot share a filter with the machine's own, which is little-endian`,
      "leave it out",
    );
  });
}

function checkArguments(report: Report, syscalls: Syscalls): void {
  for (let rule = 0; rule < syscalls.length; rule++) {
    const args = syscalls[rule]!.args ?? [];
    for (let position = 0; position < args.length; position++) {
      const { index, op } = args[position]!;
      if (index < ARGUMENTS && Object.hasOwn(SECCOMP_OPERATORS, op)) continue;
      const pointer = `${BASE}/syscalls/${rule}/args/${position}`;
      if (index >= ARGUMENTS) report.error("seccomp-argument", `${pointer}/index`, `linux.seccomp: argument ${index} is not one of 0 to 5`);
      if (!Object.hasOwn(SECCOMP_OPERATORS, op))
        report.error("seccomp-operator", `${pointer}/op`, `linux.seccomp: unknown operator ${JSON.stringify(op)}`);
    }
  }
}
