/**
 * Every system call newer than Linux 3.0 that bin/runt makes, missing (ENOSYS: an older kernel) and refused (EPERM: a sandbox). The container
 * runs and looks the same, or the error says which call it is.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isRoot, isRunt, RUNTIME, shell, useHarness } from "../support/harness.ts";
import { mountedHierarchies } from "../support/hierarchies.ts";
import { parseTrace, stringOf } from "../support/strace.ts";
import { below, type Lived, live, privately, refusing } from "./environment.ts";

/** Calls that came with Linux 3.1 or later (the manual page of each). Where one is refused, the container is the same. */
const CALLS: readonly string[] = [
  // 3.14, 3.17, 3.18: for configurations that ask for them.
  "sched_setattr",
  "seccomp",
  "bpf",
  // Files without a name. The helper copies a plan that is not sealed.
  "memfd_create",
  // By way of /proc/self/fd.
  "execveat",
  // 4.11, with the mount id since 5.8. By way of /proc/self/fdinfo.
  "statx",
  "pidfd_send_signal",
  "pidfd_open",
  "clone3",
  // 5.2
  "open_tree",
  "move_mount",
  "fsopen",
  "fsconfig",
  "fsmount",
  "fspick",
  // 5.6 to 5.12
  "openat2",
  "faccessat2",
  "close_range",
  "mount_setattr",
];

/** The rest of what came after 3.0 up to 6.18: nothing of it may be called without an entry above. */
const UNUSED =
  "process_vm_readv process_vm_writev kcmp finit_module sched_getattr renameat2 getrandom kexec_file_load userfaultfd membarrier mlock2 copy_file_range " +
  "preadv2 pwritev2 pkey_mprotect pkey_alloc pkey_free io_pgetevents io_uring_setup io_uring_enter io_uring_register pidfd_getfd " +
  "process_madvise epoll_pwait2 quotactl_fd landlock_create_ruleset landlock_add_rule landlock_restrict_self memfd_secret process_mrelease " +
  "futex_waitv set_mempolicy_home_node cachestat fchmodat2 map_shadow_stack futex_wake futex_wait futex_requeue statmount listmount lsm_get_self_attr " +
  "lsm_set_self_attr lsm_list_modules mseal setxattrat getxattrat listxattrat removexattrat open_tree_attr file_getattr file_setattr";

/** Hierarchies that other tests mount meanwhile are not the container's. */
const HIERARCHIES = ["", ...mountedHierarchies()].join("|");

/**
 * Describes the container as its program sees it. A masked file may be covered by the host's null device or the container's, and a masked
 * directory by a file system of this size or that.
 */
const LOOK = [
  `awk '{ print $5, $4 == "/null" ? "masked" : $4 " " $6 }' /proc/self/mountinfo | sort`,
  "grep -E '^(Cap|NoNew|Uid|Gid|Groups|Umask)' /proc/self/status",
  "ls -ln /dev | awk '{print $1, $3, $4, $NF}'; ls /proc/self/fd; id; pwd; hostname; ulimit -n; env",
  `cut -d: -f2- /proc/self/cgroup | grep -E '^(${HIERARCHIES}):'; cat /proc/self/oom_score_adj; wc -c < /proc/keys; touch /proc/sys/x /sys/x 2>&1; ls / /sys`,
].join("; ");

/** Names of what was called by the runtime and the helper, not by the programs of the container. */
function ownCalls(trace: string): string[] {
  const inside = new Set<number>();
  return parseTrace(trace).flatMap(({ pid, name, args, result }) => {
    if (inside.has(pid)) {
      if (/^(clone|clone3|v?fork)$/.test(name) && result !== undefined && result > 0) inside.add(result);
      return [];
    }
    if (name === "execve" && result === 0 && stringOf(args[0] ?? "") !== RUNTIME) inside.add(pid);
    return [name];
  });
}

describe.skipIf(!isRoot || !isRunt)("newer system calls (needs root)", () => {
  const harness = useHarness();
  const { bundle, directory, id } = harness;
  let bundles: readonly [string, string] | undefined;
  const sample = (command: string) =>
    bundle((config) => {
      config.process.terminal = false;
      shell(config, command);
    }, "shell");
  const samples = () => (bundles ??= [sample("exec sleep 60"), sample(LOOK)]);
  const lifeBelow = (prefix: readonly string[]): Promise<Lived> =>
    live(below(harness, prefix), id(), ...samples(), ["/bin/sh", "-c", LOOK]);

  let usual: Lived | undefined;
  const usually = async () => {
    usual ??= await lifeBelow([]);
    expect(usual.failed).toBeUndefined();
    expect(usual.run).toContain("CapEff");
    return usual;
  };

  test("the table has every one that is called", async () => {
    const trace = join(directory, "trace");
    const seen = new Set<string>();
    const traced: typeof run = async (args) => {
      const result = await run(args);
      for (const name of ownCalls(readFileSync(trace, "utf8"))) seen.add(name);
      return result;
    };
    const run = below(harness, ["strace", "-qq", "-f", "-X", "verbose", "-o", trace]);
    const name = id();
    const plain = below(harness, []);
    const [path, short] = samples();
    await traced(["run", "-b", short, name]);
    await plain(["run", "-d", "-b", path, name]);
    for (const args of [
      ["exec", name, "true"],
      ["pause", name],
      ["resume", name],
      ["kill", name, "KILL"],
      ["delete", "--force", name],
    ])
      expect(await traced(args)).toMatchObject({ status: 0 });
    expect(seen.size).toBeGreaterThan(50);
    expect([...seen].filter((call) => UNUSED.split(" ").includes(call))).toEqual([]);
    expect(seen).toContain("openat2");
  });

  const rows = CALLS.flatMap((name) => (["ENOSYS", "EPERM"] as const).map((error) => [name, error] as const));
  test.each(rows)("%s: %s", async (name, error) => {
    expect(await lifeBelow(refusing(error, name))).toEqual(await usually());
  });

  test.each(["ENOSYS", "EPERM"] as const)("all of them at once: %s", async (error) => {
    expect(await lifeBelow(refusing(error, CALLS.join(",")))).toEqual(await usually());
  });

  test.each([1, 2])("vm.memfd_noexec=%i", async (value) => {
    const line = `mount -t proc proc /proc; echo ${value} > /proc/sys/vm/memfd_noexec`;
    const lived = await lifeBelow(privately(line, ["--pid", "--fork", "--kill-child"]));
    // A PID namespace for each verb: only what one verb does alone can work.
    expect(lived.failed?.verb).toBe("start");
    const run = below(harness, privately(line, ["--pid", "--fork", "--kill-child"]));
    const result = await run(["run", "-b", samples()[1], id()]);
    expect(result).toMatchObject({ status: 0, stderr: "", stdout: (await usually()).run });
  });
});
