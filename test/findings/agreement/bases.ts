/** Real configurations, and shapes that engines write by their documented defaults, so that each can be created in a bundle of its own. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Edits } from "../../../src/runtime/check/catalogue/index.ts";
import { sampleConfig } from "../../support/config.ts";
import { applyEdits } from "../../support/example-host.ts";
import { REPOSITORY } from "../../support/programs.ts";

export interface Configuration {
  [field: string]: unknown;
  root: { path: string; readonly?: boolean };
  process: { [field: string]: unknown; args: string[]; terminal?: boolean };
  mounts?: { destination: string; type?: string; source?: string; options?: string[] }[];
  linux: { [field: string]: unknown; cgroupsPath?: string; namespaces?: { type: string; path?: string }[] };
}

const MAP = [{ containerID: 0, hostID: 100000, size: 65536 }];
const bind = (destination: string, source: string, ...options: string[]) => ({ destination, type: "bind", source, options });
const mount = (destination: string, type: string, ...options: string[]) => ({ destination, type, source: type, options });
const USER: Edits = { "/linux/namespaces/-": { type: "user" }, "/linux/uidMappings": MAP, "/linux/gidMappings": MAP };

/** By name: edits of a sample. */
const SHAPES: Readonly<Record<string, readonly [sample: string, edits: Edits]>> = {
  docker: [
    "hello",
    {
      "/mounts/-": bind("/etc/hosts", "file", "rbind", "rprivate"),
      "/hostname": "0123456789ab",
      "/process/oomScoreAdj": 0,
      "/linux/resources": {
        devices: [{ allow: false, access: "rwm" }],
        memory: { disableOOMKiller: false },
        cpu: { shares: 0 },
        pids: { limit: 0 },
      },
      "/linux/sysctl": { "net.ipv4.ip_unprivileged_port_start": "0", "net.ipv4.ping_group_range": "0 2147483647" },
    },
  ],
  cri: [
    "containerd",
    {
      "/mounts/-": bind("/dev/shm", "data", "rbind", "ro"),
      "/annotations": { "io.kubernetes.cri.container-type": "container", "io.kubernetes.cri.sandbox-id": "s" },
      "/linux/resources/memory/swap": 67108864,
      "/process/user/additionalGids": [0, 10],
    },
  ],
  "cri-user": ["containerd", { ...USER, "/process/user/uid": 1000, "/mounts/-": bind("/etc", "data", "rbind", "rprivate", "rw") }],
  crio: [
    "hello",
    {
      "/mounts/-": bind("/etc/resolv.conf", "file", "ro", "bind", "nodev", "nosuid", "noexec"),
      "/linux/maskedPaths": [
        "/proc/acpi",
        "/proc/kcore",
        "/proc/keys",
        "/proc/latency_stats",
        "/proc/timer_list",
        "/proc/scsi",
        "/sys/firmware",
      ],
      "/linux/rootfsPropagation": "rslave",
      "/hooks": { prestart: [{ path: "/bin/true", args: ["true"] }] },
    },
  ],
  buildah: [
    "hello",
    { "/mounts/-": bind("/run/secrets", "data", "bind", "rprivate"), "/linux/rootfsPropagation": "rprivate", "/process/cwd": "/work" },
  ],
  "podman-systemd": [
    "hello",
    {
      "/mounts/-": mount("/run", "tmpfs", "rw", "rprivate", "nosuid", "nodev", "tmpcopyup", "mode=755"),
      "/linux/sysctl": { "net.ipv4.ping_group_range": "0 0" },
    },
  ],
  "podman-user": [
    "hello",
    { ...USER, "/mounts/-": mount("/tmp", "tmpfs", "rw", "rprivate", "nosuid", "nodev", "tmpcopyup"), "/root/readonly": true },
  ],
  toolbox: [
    "shell",
    {
      "/mounts/-": mount("/dev/pts", "devpts"),
      "/mounts/7": bind("/run/host", "data", "rslave", "rbind"),
      "/linux/rootfsPropagation": "rslave",
    },
  ],
  kata: [
    "hello",
    {
      "/mounts/-": bind("/run/share", "data", "bind", "rbind", "rw"),
      "/linux/resources": { memory: { limit: 134217728 }, cpu: { period: 100000, quota: 50000 } },
    },
  ],
  "atomic-template": [
    "hello",
    {
      "/mounts/-": bind("/var/run", "data", "rbind", "rw", "mode=755"),
      "/mounts/7": bind("/etc/kubernetes", "data", "rbind", "strictatime", "size=65536k", "mode=755"),
    },
  ],
  lxcfs: [
    "hello",
    { "/mounts/-": bind("/proc/meminfo", "file", "bind", "rw", "rprivate"), "/mounts/7": bind("/proc/uptime", "file", "bind", "ro") },
  ],
  gpu: [
    "hello",
    {
      "/linux/devices": [{ path: "/dev/nvidia0", type: "c", major: 195, minor: 0, fileMode: 438, uid: 0, gid: 0 }],
      "/hooks": { createContainer: [{ path: "/bin/true", args: ["true"] }] },
    },
  ],
};

const OWN_MOUNTS = 6;

function shape([sample, edits]: readonly [string, Edits]): Configuration {
  const config = sampleConfig(sample) as unknown as Configuration;
  // The edits count on the mounts of the sample.
  config.mounts = config.mounts?.slice(0, OWN_MOUNTS) ?? [];
  const renamed = Object.entries(edits).map(([pointer, value]) => [pointer === "/mounts/7" ? `/mounts/${OWN_MOUNTS + 1}` : pointer, value]);
  applyEdits(config, Object.fromEntries(renamed));
  return config;
}

const recorded = (file: string): Configuration => JSON.parse(readFileSync(join(REPOSITORY, "test", file), "utf8"));

/** What is of another machine is replaced: files by those of the bundle. */
function settle(config: Configuration): Configuration {
  const copy = structuredClone(config);
  copy.root = { ...copy.root, path: "rootfs" };
  copy.process = { ...copy.process, args: ["/bin/true"], terminal: false };
  delete copy.process["rlimits"];
  delete copy.process["apparmorProfile"];
  delete copy.process["selinuxLabel"];
  for (const one of copy.mounts ?? []) {
    const isBind = one.type === "bind" || one.options?.some((word) => word === "bind" || word === "rbind");
    if (isBind && one.source?.startsWith("/")) one.source = /\.|host/.test(one.destination) ? "file" : "data";
  }
  copy.linux.namespaces = copy.linux.namespaces?.map(({ type }) => ({ type })) ?? [];
  delete copy.linux["seccomp"];
  delete copy.linux["mountLabel"];
  if (JSON.stringify(copy["hooks"] ?? {}).includes("/bin/true") === false) delete copy["hooks"];
  return copy;
}

export const BASES: readonly (readonly [name: string, config: Configuration])[] = [
  ...["hello", "shell", "limited", "containerd"].map((name) => [name, settle(sampleConfig(name) as unknown as Configuration)] as const),
  ...["podman", "containerd"].map((name) => [`fixture-${name}`, settle(recorded(`fixtures/specs/${name}.json`))] as const),
  ...["config", "privileged"].map((name) => [`library-${name}`, settle(recorded(`golden/library/${name}.json`))] as const),
  ...Object.entries(SHAPES).map(([name, one]) => [name, settle(shape(one))] as const),
];
