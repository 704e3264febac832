/** Finds what this host lacks for a test. */
import { existsSync, readFileSync } from "node:fs";
import { isUnified } from "./cgroups.ts";
import type { Need } from "./group.ts";

const CAP_SYS_RESOURCE = 24n;

function hasCapability(number: bigint): boolean {
  const text = /^CapEff:\s*(\w+)/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? "0";
  return ((BigInt(`0x${text}`) >> number) & 1n) === 1n;
}

const CHECKS: Readonly<Record<Need, readonly [present: () => boolean, reason: string]>> = {
  cgroup1: [() => !isUnified(), "needs cgroup v1 controllers"],
  cgroup2: [() => isUnified(), "needs a unified cgroup v2 hierarchy with controllers (make test-guest)"],
  CAP_SYS_RESOURCE: [() => hasCapability(CAP_SYS_RESOURCE), "needs CAP_SYS_RESOURCE"],
  apparmor: [() => existsSync("/sys/kernel/security/apparmor/profiles"), "needs AppArmor"],
  selinux: [() => existsSync("/sys/fs/selinux/enforce"), "needs SELinux"],
  swap: [() => readFileSync("/proc/swaps", "utf8").trim().split("\n").length > 1, "needs swap"],
  numa: [() => existsSync("/sys/devices/system/node/node0"), "needs a kernel with NUMA"],
};

/** The reason of the first need that is not met. */
export function missing(needs: readonly Need[]): string | undefined {
  const need = needs.find((name) => !CHECKS[name][0]());
  return need === undefined ? undefined : CHECKS[need][1];
}
