import { expect, it } from "vitest";
import { suggest } from "./suggest.ts";

const of = (code: string, value: string, pointer = "/x/0") => suggest({ code, severity: "error", pointer, message: "m" }, value).message;

it.each([
  ["capability-unknown", "CAP_SYS_ADMN", "CAP_SYS_ADMIN"],
  ["capability-unknown", "sys_admin", "CAP_SYS_ADMIN"],
  ["capability-unknown", "NET_RAW", "CAP_NET_RAW"],
  ["namespace-unknown", "net", "network"],
  ["namespace-unknown", "mnt", "mount"],
  ["rlimit-unknown", "NOFILE", "RLIMIT_NOFILE"],
  ["rlimit-unknown", "RLIMIT_NOFILES", "RLIMIT_NOFILE"],
  ["seccomp-action", "SCMP_ACT_ERRN", "SCMP_ACT_ERRNO"],
  ["seccomp-operator", "EQ", "SCMP_CMP_EQ"],
  ["seccomp-architecture", "SCMP_ARCH_AMD64", "SCMP_ARCH_X86_64"],
  ["scheduler-policy", "SCHED_FIF0", "SCHED_FIFO"],
  ["io-priority-class", "BE", "IOPRIO_CLASS_BE"],
  ["memory-policy-mode", "MPOL_BINDS", "MPOL_BIND"],
  ["personality-domain", "linux", "LINUX"],
  ["root-propagation-unknown", "rprivat", "rprivate"],
])("%s: %s is taken for %s", (code, value, meant) => expect(of(code, value)).toContain(`m; did you mean ${meant}`));

it("takes the key where the name is one", () => expect(of("sysctl-host", "1", "/linux/sysctl/kernel.msgmx")).toContain("kernel.msgmax"));

it.each([
  ["cwd-relative", "tmp"],
  ["capability-unknown", "CAP_FLY_TO_THE_MOON"],
  ["namespace-unknown", ""],
])("%s: %j is left as it is", (code, value) => expect(of(code, value)).toBe("m"));
