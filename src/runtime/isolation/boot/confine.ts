/**
 * What the process that boots a machine may still do when the guest begins: it is root, it parses what the guest says until the container is made, and
 * it lives as long as the machine. It has the capabilities and the system calls that its work needs, and cannot get others.
 */
import { capabilityBit, EPERM } from "../../../shared/linux/index.ts";
import * as host from "../../host/index.ts";
import { SECCOMP_ACTIONS } from "../../spec/index.ts";
import * as kernel from "../kernel.ts";

const AF_NETLINK = 16;
const EQUAL = 4;

const CALLS: readonly (readonly [why: string, names: readonly string[]])[] = [
  ["the loop: channel, complaints, signals", ["poll", "ppoll", "read", "readv", "write", "writev", "close", "fcntl", "clock_gettime"]],
  ["the monitor connects and gets the channel", ["accept", "accept4", "sendmsg"]],
  [
    "the monitor-to-be is let go on, and the time of the boot is kept",
    ["open", "openat", "fstat", "lseek", "rename", "renameat", "renameat2"],
  ],
  ["the hypervisor and the file server end", ["kill", "wait4"]],
  ["memory of the JavaScript engine", ["brk", "madvise", "mmap", "mremap", "munmap"]],
  ["signals and the end", ["restart_syscall", "rt_sigprocmask", "rt_sigreturn", "exit", "exit_group"]],
];
/** The taps of the hypervisor are joined with the interfaces of the container when the guest has come up (rtnetlink(7)). */
const CALLS_OF_NETWORK = ["bind", "getsockname", "recvfrom", "recvmsg", "sendto"];

/** Text of a profile, as `host.seccompCompile` reads it. A call that is not named fails with EPERM. Exported for its test. */
export function profileOfBoot(hasInterfaces: boolean): string {
  const { SCMP_ACT_ALLOW: allow, SCMP_ACT_ERRNO: fail } = SECCOMP_ACTIONS;
  const always = CALLS.flatMap(([, names]) => names);
  return [
    `default ${fail | EPERM}`,
    "optimize 2",
    `rule ${allow} - ${[...always, ...(hasInterfaces ? CALLS_OF_NETWORK : [])].join(" ")}`,
    ...(hasInterfaces ? [`rule ${allow} 0:${EQUAL}:${AF_NETLINK}:0 socket`] : []),
    "",
  ].join("\n");
}

/** Before a byte of the guest is read. CAP_KILL: the hypervisor has another user. */
export function confine(hasInterfaces: boolean): void {
  const { program } = host.seccompCompile(profileOfBoot(hasInterfaces));
  const network = hasInterfaces ? capabilityBit("CAP_NET_ADMIN") : 0n;
  kernel.limitCapabilities(capabilityBit("CAP_KILL") | network);
  kernel.installFilter(program);
}
