/** The sample bundles under runt and under Debian's runc and crun: a probe inside must see the same. */
import { existsSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Config } from "../support/config.ts";
import { peerCommand } from "../support/crun.ts";
import { call, isRoot, RUNTIME, useHarness } from "../support/harness.ts";
import { REPOSITORY } from "../support/programs.ts";
import { DIFFERENCES, type Difference } from "./differences.ts";

const SAMPLES = ["hello", "shell", "limited", "containerd", "user", "seccomp"] as const;
const PEERS = [
  ["runc", "/usr/sbin/runc"],
  ["crun", "/usr/bin/crun"],
] as const;
const NAMESPACES = ["cgroup", "ipc", "mnt", "net", "pid", "time", "user", "uts"];
const SYSCTLS = [
  "kernel/hostname",
  "kernel/domainname",
  "kernel/shm_rmid_forced",
  "net/ipv4/ip_forward",
  "net/ipv4/ping_group_range",
  "fs/mqueue/msg_max",
];
const PLACES = [
  "/proc/acpi",
  "/proc/asound",
  "/proc/kcore",
  "/proc/keys",
  "/proc/timer_list",
  "/proc/sched_debug",
  "/proc/scsi",
  "/sys/firmware",
];
const READONLY = ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger", "/sys", "/etc", "/dev/shm"];

/** The sample with the probe as its program. */
function probing(config: Config): void {
  config.process.args = [
    "/probe",
    ...NAMESPACES.flatMap((name) => ["--namespace", readlinkSync(`/proc/self/ns/${name}`)]),
    ...SYSCTLS.flatMap((key) => ["--sysctl", key]),
    ...[...PLACES, ...READONLY].flatMap((path) => ["--path", path]),
  ];
  config.process.terminal = false;
}

/** More of config.json than the samples use. */
function asUser(config: Config): void {
  probing(config);
  config.process.user = { uid: 1000, gid: 1000, umask: 0o027, additionalGids: [5, 1001] };
  config.process.cwd = "/home/user";
  config.process.env.push("A=1", "B=two words");
  config.process.capabilities = {
    bounding: ["CAP_KILL", "CAP_CHOWN"],
    permitted: ["CAP_KILL"],
    effective: ["CAP_KILL"],
    inheritable: [],
    ambient: [],
  };
  config.process.rlimits = [
    { type: "RLIMIT_NOFILE", soft: 512, hard: 1024 },
    { type: "RLIMIT_CORE", soft: 0, hard: 4096 },
  ];
  Object.assign(config.process, { oomScoreAdj: 300, noNewPrivileges: false });
  config.linux.sysctl = { "net.ipv4.ip_forward": "1", "kernel.shm_rmid_forced": "1" };
  Object.assign(config.linux, { maskedPaths: ["/proc/keys", "/sys/firmware", "/absent"], readonlyPaths: ["/proc/sys", "/absent"] });
  config.mounts.push(
    { destination: "/mnt", type: "bind", source: "/usr/share", options: ["rbind", "ro", "nosuid", "rslave"] },
    { destination: "/tmp", type: "tmpfs", source: "tmpfs", options: ["nosuid", "nodev", "mode=1777", "size=1m", "noexec"] },
  );
}

/** x86-64: getpid and uname are allowed; personality only with some arguments; mount, setns and unshare are not; the last is no call yet. */
const SYSCALLS = ["39", "63", "135", "135:8", "135:5", "165", "272", "308", "435", "600"];

/** A filter as engines have it. */
function filtered(config: Config): void {
  probing(config);
  config.process.args.push(...SYSCALLS.flatMap((call) => ["--syscall", call]));
  config.linux.seccomp = JSON.parse(readFileSync(join(REPOSITORY, "test/fixtures/seccomp-default.json"), "utf8"));
}

/** Samples that are not a bundle of their own. */
const CHANGES: Readonly<Record<string, (config: Config) => void>> = { user: asUser, seccomp: filtered };

describe.skipIf(!isRoot)("the same bundle under two runtimes (needs root)", () => {
  const { bundle, directory, id, root } = useHarness({ peers: true });
  const used = new Set<Difference>();

  async function lines(command: (args: readonly string[]) => string[], path: string): Promise<string[]> {
    const result = await call(directory, command(["--root", root, "run", "--bundle", path, id()]));
    if (result.status !== 0) throw new Error(`${command([])[0]}: status ${result.status}: ${result.stderr}`);
    // The names of the caller's files are made anew for every call.
    return result.stdout
      .trimEnd()
      .replaceAll(/call-\w+/g, "call")
      .split("\n");
  }

  for (const [peer, program] of PEERS) {
    describe.skipIf(!existsSync(program))(`${peer} (needs ${program})`, () => {
      test.each(SAMPLES)("%s", async (sample) => {
        const change = CHANGES[sample];
        const path = change ? bundle(change) : bundle(probing, sample);
        const own = await lines((args) => [RUNTIME, ...args], path);
        const other = await lines((args) => peerCommand(program, args), path);
        const differing = [
          ...own.filter((line) => !other.includes(line)).map((line) => `runt: ${line}`),
          ...other.filter((line) => !own.includes(line)).map((line) => `${peer}: ${line}`),
        ];
        const unexplained = differing.filter((line) => {
          const rows = DIFFERENCES.filter((row) => row.peer === peer && row.line.test(line));
          for (const row of rows) used.add(row);
          return rows.length === 0;
        });
        expect(unexplained.sort()).toEqual([]);
      });

      test("every listed difference is still one", () => {
        const rows = DIFFERENCES.filter((row) => row.peer === peer && !row.onSomeHosts && !used.has(row));
        expect(rows.map(({ line, why }) => `${line} ${why}`)).toEqual([]);
      });
    });
  }
});
