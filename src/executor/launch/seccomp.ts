/** Builds the default seccomp filter, as linux.seccomp of an OCI configuration. Pure. */
import type { OciObject } from "./command.ts";

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

/** What rules of a profile of Docker depend on. */
export interface ProfileFacts {
  readonly capabilities: readonly string[];
  /** As in Node's process.arch. */
  readonly architecture: string;
  /** Such as "6.1.0-18-amd64". */
  readonly kernel: string;
}

/** Names of architectures in profiles of Docker: in `archMap`, and in conditions of rules. */
const PROFILE_NAMES: Readonly<Record<string, readonly [native: string, condition: string]>> = {
  x64: ["SCMP_ARCH_X86_64", "amd64"],
  arm64: ["SCMP_ARCH_AARCH64", "arm64"],
};

type Conditions = Readonly<Partial<Record<"caps" | "arches", readonly string[]>>> & { readonly minKernel?: string };

/**
 * A profile of Docker as the seccomp object of an OCI configuration: only the rules whose conditions hold. What has neither conditions nor a map of architectures is one already.
 * Source: moby/profiles, seccomp/seccomp.go.
 */
export function plainSeccomp(profile: OciObject, facts: ProfileFacts): OciObject {
  const { archMap, syscalls, ...rest } = profile as { archMap?: readonly OciObject[]; syscalls?: readonly OciObject[] };
  const [native, condition] = PROFILE_NAMES[facts.architecture] ?? [facts.architecture, facts.architecture];
  const entry = archMap?.find(({ architecture }) => architecture === native);
  const architectures = entry === undefined ? {} : { architectures: [native, ...((entry["subArchitectures"] ?? []) as readonly string[])] };
  const rules = syscalls?.flatMap((rule) => {
    const { includes, excludes, comment: _, name, names, ...kept } = rule as { includes?: Conditions; excludes?: Conditions } & OciObject;
    if (!isIncluded(includes ?? {}, condition, facts) || isExcluded(excludes ?? {}, condition, facts)) return [];
    return [{ ...kept, names: [...((names ?? []) as readonly string[]), ...(typeof name === "string" && name !== "" ? [name] : [])] }];
  });
  return { ...rest, ...architectures, ...(rules === undefined ? {} : { syscalls: rules }) };
}

function isIncluded({ caps = [], arches = [], minKernel = "" }: Conditions, architecture: string, facts: ProfileFacts): boolean {
  const isOfArchitecture = arches.length === 0 || arches.includes(architecture);
  return isOfArchitecture && isKernelFrom(minKernel, facts.kernel) && caps.every((one) => facts.capabilities.includes(one));
}

function isExcluded({ caps = [], arches = [], minKernel = "" }: Conditions, architecture: string, facts: ProfileFacts): boolean {
  const isNewEnough = minKernel !== "" && isKernelFrom(minKernel, facts.kernel);
  return arches.includes(architecture) || isNewEnough || caps.some((one) => facts.capabilities.includes(one));
}

function isKernelFrom(least: string, kernel: string): boolean {
  const [[major = 0, minor = 0] = [], [own = 0, ofOwn = 0] = []] = [least, kernel].map((text) => (text.match(/\d+/g) ?? []).map(Number));
  return own > major || (own === major && ofOwn >= minor);
}

/*
 * The system calls that a container without a seccomp setting may make. The lists are derived from the page of each call in man-pages(2) and from capabilities(7).
 * A call that is in no list, such as one of a newer kernel, fails with ENOSYS.
 */

/** Always allowed, because they cannot harm other processes. */
export const ALLOWED = `
  _llseek _newselect accept accept4 access adjtimex alarm arch_prctl arm_fadvise64_64 arm_sync_file_range bind breakpoint brk cacheflush
  cachestat capget capset chdir chmod chown chown32 chroot clock_adjtime clock_adjtime64 clock_getres clock_getres_time64 clock_gettime
  clock_gettime64 clock_nanosleep clock_nanosleep_time64 close close_range connect copy_file_range creat dup dup2 dup3 epoll_create
  epoll_create1 epoll_ctl epoll_pwait epoll_pwait2 epoll_wait eventfd eventfd2 execve execveat exit exit_group faccessat faccessat2
  fadvise64 fadvise64_64 fallocate fanotify_mark fchdir fchmod fchmodat fchmodat2 fchown fchown32 fchownat fcntl fcntl64 fdatasync
  fgetxattr flistxattr flock fork fremovexattr fsetxattr fstat fstat64 fstatat64 fstatfs fstatfs64 fsync ftruncate ftruncate64 futex
  futex_requeue futex_time64 futex_wait futex_waitv futex_wake futimesat get_mempolicy get_robust_list get_thread_area get_tls getcpu
  getcwd getdents getdents64 getegid getegid32 geteuid geteuid32 getgid getgid32 getgroups getgroups32 getitimer getpeername getpgid
  getpgrp getpid getppid getpriority getrandom getresgid getresgid32 getresuid getresuid32 getrlimit getrusage getsid getsockname
  getsockopt gettid gettimeofday getuid getuid32 getxattr getxattrat inotify_add_watch inotify_init inotify_init1 inotify_rm_watch
  io_cancel io_destroy io_getevents io_pgetevents io_pgetevents_time64 io_setup io_submit ioctl ioprio_get ioprio_set ipc kcmp kill
  landlock_add_rule landlock_create_ruleset landlock_restrict_self lchown lchown32 lgetxattr link linkat listen listmount listxattr
  listxattrat llistxattr lremovexattr lseek lsetxattr lsm_get_self_attr lsm_list_modules lsm_set_self_attr lstat lstat64 madvise
  map_shadow_stack mbind membarrier memfd_create memfd_secret mincore mkdir mkdirat mknod mknodat mlock mlock2 mlockall mmap mmap2
  modify_ldt mprotect mq_getsetattr mq_notify mq_open mq_timedreceive mq_timedreceive_time64 mq_timedsend mq_timedsend_time64 mq_unlink
  mremap mseal msgctl msgget msgrcv msgsnd msync munlock munlockall munmap nanosleep newfstatat nice open openat openat2 pause pidfd_getfd
  pidfd_open pidfd_send_signal pipe pipe2 pkey_alloc pkey_free pkey_mprotect poll ppoll ppoll_time64 prctl pread64 preadv preadv2
  prlimit64 process_madvise process_mrelease process_vm_readv process_vm_writev pselect6 pselect6_time64 ptrace pwrite64 pwritev pwritev2
  read readahead readdir readlink readlinkat readv recvfrom recvmmsg recvmmsg_time64 recvmsg remap_file_pages removexattr removexattrat
  rename renameat renameat2 restart_syscall rmdir rseq rt_sigaction rt_sigpending rt_sigprocmask rt_sigqueueinfo rt_sigreturn
  rt_sigsuspend rt_sigtimedwait rt_sigtimedwait_time64 rt_tgsigqueueinfo sched_get_priority_max sched_get_priority_min sched_getaffinity
  sched_getattr sched_getparam sched_getscheduler sched_rr_get_interval sched_rr_get_interval_time64 sched_setaffinity sched_setattr
  sched_setparam sched_setscheduler sched_yield seccomp select semctl semget semop semtimedop semtimedop_time64 sendfile sendfile64
  sendmmsg sendmsg sendto set_mempolicy set_mempolicy_home_node set_robust_list set_thread_area set_tid_address set_tls setfsgid
  setfsgid32 setfsuid setfsuid32 setgid setgid32 setgroups setgroups32 setitimer setpgid setpriority setregid setregid32 setresgid
  setresgid32 setresuid setresuid32 setreuid setreuid32 setrlimit setsid setsockopt setuid setuid32 setxattr setxattrat sgetmask shmat
  shmctl shmdt shmget shutdown sigaction sigaltstack signal signalfd signalfd4 sigpending sigprocmask sigreturn sigsuspend socketcall
  socketpair splice ssetmask stat stat64 statfs statfs64 statmount statx symlink symlinkat sync sync_file_range sync_file_range2 syncfs
  sysinfo tee tgkill time timer_create timer_delete timer_getoverrun timer_gettime timer_gettime64 timer_settime timer_settime64
  timerfd_create timerfd_gettime timerfd_gettime64 timerfd_settime timerfd_settime64 times tkill truncate truncate64 ugetrlimit umask
  uname unlink unlinkat utime utimensat utimensat_time64 utimes vfork vmsplice wait4 waitid waitpid write writev
  name_to_handle_at`
  .trim()
  .split(/\s+/);

/** Fail with EPERM unless the container has one of these capabilities. Most of them the kernel would refuse as well, but grants them in a new user namespace. */
export const PRIVILEGED: Readonly<Record<string, readonly string[]>> = {
  CAP_SYS_ADMIN: [
    ...["bpf", "fanotify_init", "fsconfig", "fsmount", "fsopen", "fspick", "mount", "mount_setattr", "move_mount", "open_tree"],
    ...["perf_event_open", "pivot_root", "quotactl", "quotactl_fd", "setdomainname", "sethostname", "setns", "swapoff", "swapon"],
    ...["syslog", "umount", "umount2", "unshare"],
  ],
  CAP_BPF: ["bpf"],
  CAP_DAC_READ_SEARCH: ["open_by_handle_at"],
  CAP_PERFMON: ["perf_event_open"],
  CAP_SYS_BOOT: ["kexec_file_load", "kexec_load", "reboot"],
  CAP_SYS_MODULE: ["delete_module", "finit_module", "init_module"],
  CAP_SYS_NICE: ["migrate_pages", "move_pages"],
  CAP_SYS_PACCT: ["acct"],
  CAP_SYS_RAWIO: ["ioperm", "iopl"],
  CAP_SYS_TIME: ["clock_settime", "clock_settime64", "settimeofday", "stime"],
  CAP_SYS_TTY_CONFIG: ["vhangup"],
  CAP_SYSLOG: ["syslog"],
};

/** Always fail with EPERM: keys have no namespace, and a handler of page faults can stop the kernel at any point. */
export const NEVER = ["add_key", "keyctl", "request_key", "userfaultfd"];

/** By name in Node's process.arch: the architectures whose programs may run. Programs of other architectures are killed. */
const ARCHITECTURES: Readonly<Record<string, readonly string[]>> = {
  x64: ["SCMP_ARCH_X86_64", "SCMP_ARCH_X86"],
  arm64: ["SCMP_ARCH_AARCH64", "SCMP_ARCH_ARM"],
};
