/**
 * Every flag of runc 1.1 to 1.3 and of crun 1.8 to 1.28, verb by verb, from their help and manual pages. A word behind the flag is its
 * value. `flag|f` has a one-letter form.
 */
export interface PeerVerb {
  readonly positionals: readonly string[];
  readonly runc: readonly string[];
  readonly crun: readonly string[];
}

const CREATE = ["--bundle|b DIR", "--console-socket S", "--no-new-keyring", "--no-pivot", "--pid-file F", "--preserve-fds 2"];
const CRIU = [
  "--image-path D",
  "--work-path D",
  "--tcp-established",
  "--ext-unix-sk",
  "--shell-job",
  "--file-locks",
  "--manage-cgroups-mode soft",
];
const UPDATE = [
  "--resources|r -",
  "--blkio-weight 100",
  "--cpu-period 1000",
  "--cpu-quota 1000",
  "--cpu-share 10",
  "--cpu-rt-period 1",
  "--cpu-rt-runtime 1",
  "--cpuset-cpus 0",
  "--cpuset-mems 0",
  "--kernel-memory 1",
  "--kernel-memory-tcp 1",
  "--memory 1",
  "--memory-reservation 1",
  "--memory-swap 1",
  "--pids-limit 1",
  "--l3-cache-schema L3:0=f",
  "--mem-bw-schema MB:0=10",
];
const EXEC = [
  "--console-socket S",
  "--cwd /",
  "--env|e A=1",
  "--tty|t",
  "--user|u 1:2",
  "--process|p F",
  "--detach|d",
  "--pid-file F",
  "--process-label L",
  "--apparmor P",
  "--no-new-privs",
  "--cap|c CAP_KILL",
  "--preserve-fds 2",
  "--cgroup PATH",
];

export const PEER_GLOBAL = {
  runc: ["--debug", "--log F", "--log-format json", "--root D", "--criu P", "--systemd-cgroup", "--rootless auto"],
  crun: [
    "--debug",
    "--log file:F",
    "--log-format json",
    "--log-level error",
    "--root D",
    "--systemd-cgroup",
    "--cgroup-manager disabled",
    "--rootless true",
  ],
};

/** Help and version, in every spelling. */
export const PEER_HELP = { help: ["--help", "-h", "-?", "--usage"], version: ["--version", "-v", "-V"] };

export const PEER_VERBS: Readonly<Record<string, PeerVerb>> = {
  create: { positionals: ["id"], runc: [...CREATE, "--pidfd-socket S"], crun: [...CREATE, "--config|f F", "--no-subreaper"] },
  run: {
    positionals: ["id"],
    runc: [...CREATE, "--pidfd-socket S", "--detach|d", "--keep", "--no-subreaper"],
    crun: [...CREATE, "--config|f F", "--detach|d", "--keep", "--no-subreaper"],
  },
  start: { positionals: ["id"], runc: [], crun: [] },
  state: { positionals: ["id"], runc: [], crun: [] },
  kill: { positionals: ["id", "KILL"], runc: ["--all|a"], crun: ["--all|a", "--regex|r"] },
  delete: { positionals: ["id"], runc: ["--force|f"], crun: ["--force|f", "--regex|r"] },
  exec: { positionals: ["id", "cmd"], runc: [...EXEC, "--additional-gids|g 5", "--ignore-paused", "--pidfd-socket S"], crun: EXEC },
  ps: { positionals: ["id"], runc: ["--format|f json"], crun: ["--format|f json"] },
  pause: { positionals: ["id"], runc: [], crun: [] },
  resume: { positionals: ["id"], runc: [], crun: [] },
  update: { positionals: ["id"], runc: [...UPDATE, "--cpu-burst 1", "--cpu-idle 1"], crun: UPDATE },
  events: { positionals: ["id"], runc: ["--interval 5s", "--stats"], crun: [] },
  list: { positionals: [], runc: ["--format|f json", "--quiet|q"], crun: ["--format|f json", "--quiet|q"] },
  spec: { positionals: [], runc: ["--bundle|b D", "--rootless"], crun: ["--bundle|b D", "--file|f F", "--rootless"] },
  features: { positionals: [], runc: [], crun: [] },
  checkpoint: {
    positionals: ["id"],
    runc: [
      ...CRIU,
      "--leave-running",
      "--parent-path D",
      "--lazy-pages",
      "--status-fd 3",
      "--page-server 127.0.0.1:1",
      "--pre-dump",
      "--empty-ns network",
      "--auto-dedup",
      "--tcp-skip-in-flight",
      "--link-remap",
    ],
    crun: [...CRIU, "--leave-running", "--tcp-close", "--network-lock skip", "--parent-path D", "--pre-dump"],
  },
  restore: {
    positionals: ["id"],
    runc: [
      ...CRIU,
      "--console-socket S",
      "--bundle|b D",
      "--detach|d",
      "--pid-file F",
      "--no-subreaper",
      "--no-pivot",
      "--empty-ns network",
      "--auto-dedup",
      "--lazy-pages",
      "--lsm-profile selinux:x",
      "--lsm-mount-context x",
    ],
    crun: [
      ...CRIU,
      "--console-socket S",
      "--bundle|b D",
      "--detach|d",
      "--pid-file F",
      "--tcp-close",
      "--lsm-profile selinux:x",
      "--lsm-mount-context x",
    ],
  },
  mounts: { positionals: ["add", "id", "file"], runc: [], crun: [] },
};
