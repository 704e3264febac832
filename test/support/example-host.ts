/** The configuration and the host that the examples of the findings start from. Together they have no finding, and nothing depends on this machine. */
import type { Edits, Example, ExampleFile } from "../../src/runtime/check/catalogue/index.ts";
import type { HostFacts } from "../../src/runtime/check/finding.ts";
import type { BundleView, FileFacts, Tree } from "../../src/runtime/check/host/view.ts";

export const BUNDLE = "/bundle";

export const CLEAN = {
  ociVersion: "1.3.0",
  root: { path: "rootfs" },
  process: { user: { uid: 0, gid: 0 }, args: ["sh"], env: ["PATH=/bin"], cwd: "/" },
  mounts: [
    { destination: "/proc", type: "proc", source: "proc", options: ["nosuid", "noexec", "nodev"] },
    { destination: "/dev", type: "tmpfs", source: "tmpfs", options: ["nosuid", "strictatime", "mode=755", "size=65536k"] },
    {
      destination: "/dev/pts",
      type: "devpts",
      source: "devpts",
      options: ["nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620"],
    },
    { destination: "/sys", type: "sysfs", source: "sysfs", options: ["nosuid", "noexec", "nodev", "ro"] },
  ],
  linux: {
    namespaces: [{ type: "pid" }, { type: "network" }, { type: "ipc" }, { type: "uts" }, { type: "mount" }, { type: "cgroup" }],
  },
};

/** For a caller without rights on the host, of whom every container has a user namespace. */
const ROOTLESS: Edits = {
  "/linux/namespaces/-": { type: "user" },
  "/linux/uidMappings": [{ containerID: 0, hostID: 1000, size: 1 }],
  "/linux/gidMappings": [{ containerID: 0, hostID: 1000, size: 1 }],
};

const directory = (mode = 0o755): ExampleFile => ({ kind: "directory", mode });
const program = (mode = 0o755): ExampleFile => ({ kind: "file", mode, text: "elf:62" });

export const FILES: Readonly<Record<string, ExampleFile>> = {
  "/": directory(),
  "/bundle": directory(),
  "/bundle/rootfs": directory(),
  "/bundle/rootfs/bin": directory(),
  "/bundle/rootfs/bin/sh": program(),
  "/bundle/rootfs/etc": directory(),
  "/bundle/rootfs/etc/passwd": { kind: "file", mode: 0o644, text: "root:x:0:0::/:/bin/sh\n" },
  "/bundle/rootfs/work": directory(),
  "/bundle/rootfs/opt": directory(),
  "/bundle/rootfs/data": directory(),
  "/bundle/rootfs/tmp": directory(0o1777),
  "/bundle/rootfs/proc": directory(),
  "/bundle/rootfs/dev": directory(),
  "/bundle/rootfs/sys": directory(),
  "/srv": directory(),
  "/srv/data": directory(),
  "/usr/bin": directory(),
  "/usr/bin/hook": program(),
  "/etc": directory(),
  "/etc/passwd": { kind: "file", mode: 0o644, text: "root:x:0:0::/:/bin/sh\nme:x:1000:1000::/:/bin/sh\n" },
  "/etc/subuid": { kind: "file", mode: 0o644, text: "me:200000:65536\n" },
  "/etc/subgid": { kind: "file", mode: 0o644, text: "me:200000:65536\n" },
  "/dev": directory(),
  "/dev/fuse": { kind: "char", is: "10:229" },
  "/proc/uptime": { kind: "file", text: "4000.25 100.00\n" },
  "/proc/version": { kind: "file", text: "Linux version 6.1.0\n" },
  "/proc/modules": { kind: "file", text: "" },
  "/proc/devices": { kind: "file", text: "Character devices:\n  1 mem\n 10 misc\n\nBlock devices:\n  8 sd\n" },
  "/proc/77/ns/mnt": { kind: "namespace", text: "mount" },
  "/proc/sys/kernel": directory(),
  "/proc/sys/kernel/domainname": { kind: "file", text: "(none)\n" },
  "/proc/sys/net/core": directory(),
  "/proc/sys/net/core/somaxconn": { kind: "file", text: "4096\n" },
  "/proc/sys/net/core/rmem_max": { kind: "file", text: "212992\n" },
  "/proc/sys/net/ipv4/tcp_available_congestion_control": { kind: "file", mode: 0o444, text: "reno cubic\n" },
  "/proc/sys/net/ipv4/ip_unprivileged_port_start": { kind: "file", text: "1024\n" },
  "/proc/sys/net/ipv4/tcp_keepalive_probes": { kind: "file", text: "9\n" },
  "/proc/sys/net/ipv4/conf/default/rp_filter": { kind: "file", text: "0\n" },
  "/proc/sys/net/ipv4/conf/eth0/rp_filter": { kind: "file", text: "0\n" },
  "/proc/sys/net/ipv4/ping_group_range": { kind: "file", text: "1\t0\n" },
  "/proc/sys/net/ipv4/tcp_rmem": { kind: "file", text: "4096\t131072\t6291456\n" },
  "/proc/sys/fs/binfmt_misc": directory(),
  "/sys/fs/cgroup": directory(),
  "/sys/dev/block/8:0": directory(),
  "/sys/dev/block/8:1": directory(),
  "/sys/dev/block/8:1/partition": { kind: "file", text: "1\n" },
};

export const HOST_FACTS: HostFacts = {
  hostFacts: 1,
  recordedBy: "test",
  kernel: { release: "6.1.0", architecture: "amd64", systemCalls: [], idmappedFilesystems: [], memfdNoexec: 0 },
  caller: {
    uid: 0,
    gid: 0,
    inUserNamespace: false,
    uidMap: [],
    gidMap: [],
    setgroups: true,
    effective: ["CAP_SYS_RESOURCE", "CAP_SYS_NICE"],
    bounding: [],
    filtered: false,
    rlimits: {},
  },
  cgroup: {
    version: 2,
    hierarchies: [
      { mountpoint: "/sys/fs/cgroup", controllers: ["cpuset", "cpu", "io", "memory", "hugetlb", "pids", "rdma"], writable: true },
    ],
    files: [],
  },
  systemd: {},
  namespaces: ["cgroup", "ipc", "mount", "network", "pid", "time", "user", "uts"],
  userNamespaces: 10000,
  capabilities: [],
  seccomp: { actions: [], flags: [] },
  security: { modules: [], apparmor: false, selinux: false },
  filesystems: ["proc", "tmpfs", "devpts", "sysfs", "ext4"],
  sysctls: [],
  cpus: { online: "0-3", memoryNodes: "0", possible: "0-3", possibleNodes: "0" },
  memory: { total: 16384, swap: 0, hugepageSizes: ["2MB"] },
  limits: { nrOpen: 1048576, pidMax: 32768, threadsMax: 100000, mountMax: 100000 },
  ioSchedulers: [],
  resctrl: { groups: [], monitors: [] },
  rdmaDevices: [],
  netDevices: ["lo", "eth0", "eth1", "eth2"],
};

/** The clean configuration with the example's edits. */
export function exampleConfig(example: Pick<Example, "rootless">, edits: Edits): unknown {
  const config: unknown = structuredClone(CLEAN);
  const isAlone = example.rootless === true && !("/linux/namespaces/6" in edits) && !("/linux/namespaces/-" in edits);
  applyEdits(config, { ...(example.rootless && (isAlone || "/linux/namespaces/6" in edits) ? ROOTLESS : {}), ...edits });
  return config;
}

/** Removals come last, so that they do not change the indexes of the other edits. */
export function applyEdits(config: unknown, edits: Edits): void {
  const entries = Object.entries(edits);
  for (const [pointer, value] of [...entries.filter(([, v]) => v !== null), ...entries.filter(([, v]) => v === null)])
    applyEdit(config, pointer, value);
}

function applyEdit(config: unknown, pointer: string, value: unknown): void {
  const tokens = pointer
    .split("/")
    .slice(1)
    .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
  const last = tokens.pop() ?? "";
  let parent = config as Record<string, unknown>;
  for (const token of tokens) {
    parent[token] ??= {};
    parent = parent[token] as Record<string, unknown>;
  }
  if (Array.isArray(parent)) {
    if (value === null) parent.splice(Number(last), 1);
    else if (last === "-") parent.push(structuredClone(value));
    else parent[Number(last)] = structuredClone(value);
  } else if (value === null) delete parent[last];
  else parent[last] = structuredClone(value);
}

/** An invented host. */
export function exampleView(example: Pick<Example, "facts" | "files">): BundleView {
  const files: Record<string, ExampleFile> = { ...FILES, ...example.files };
  const facts = Object.fromEntries(
    Object.entries(HOST_FACTS).map(([section, value]) => {
      const change = example.facts?.[section as keyof HostFacts];
      if (change === undefined) return [section, value];
      return [section, typeof value === "object" && !Array.isArray(value) ? { ...value, ...(change as object) } : change];
    }),
  ) as unknown as HostFacts;
  const isThere = (path: string): boolean => files[path] !== undefined && files[path]?.kind !== "absent";
  const resolve = (path: string): string => {
    const file = files[path];
    return file?.kind === "symlink" ? `${path.slice(0, path.lastIndexOf("/"))}/${file.text}` : path;
  };
  return {
    facts,
    bundle: BUNDLE,
    live: true,
    tree(base) {
      const place = resolve(base);
      return files[place]?.kind === "directory" ? treeOf(files, place === "/" ? "" : place) : undefined;
    },
    stat(path) {
      const clean = path.replace(/\/+$/, "") || "/";
      if (files[clean]?.is === "denied") return "unknown";
      return isThere(resolve(clean)) ? factsOf(files[resolve(clean)]!) : undefined;
    },
    namespace(path) {
      const file = files[path];
      if (file?.is === "denied") return "denied";
      return file?.kind === "namespace" ? { type: file.text ?? "", own: file.is === "own" } : undefined;
    },
    text: (path) => files[path]?.text,
  };
}

function treeOf(files: Readonly<Record<string, ExampleFile>>, base: string): Tree {
  const at = (path: string): string => (path === "/" ? base || "/" : base + path);
  return {
    look: (path) => (files[at(path)] === undefined || files[at(path)]?.kind === "absent" ? undefined : factsOf(files[at(path)]!)),
    link: (path) => files[at(path)]?.text,
    names: (path) => {
      const prefix = at(path) === "/" ? "/" : `${at(path)}/`;
      return Object.keys(files)
        .filter((name) => name.startsWith(prefix) && name !== "/" && !name.slice(prefix.length).includes("/"))
        .map((name) => name.slice(prefix.length));
    },
    read: (path, offset, length) => contentOf(files[at(path)]?.text ?? "").slice(offset, offset + length),
    isWritable: (path) => files[at(path)]?.readOnly !== true,
  };
}

function factsOf({ kind, mode = 0o644, uid = 0, is }: ExampleFile): FileFacts {
  const [major = 0, minor = 0] = (kind === "char" || kind === "block" ? (is ?? "").split(":") : []).map(Number);
  return { kind: kind === "namespace" || kind === "absent" ? "file" : kind, mode, uid, gid: 0, major, minor };
}

/** "elf:MACHINE" or "elf:MACHINE:LOADER": a minimal program. */
export function contentOf(text: string): ArrayBuffer {
  const [, machine, loader] = /^elf:(\d+)(?::(.+))?$/.exec(text) ?? [];
  if (machine === undefined) return new Uint8Array(new TextEncoder().encode(text)).buffer;
  const [headerSize, programSize] = [64, 56];
  const view = new DataView(new ArrayBuffer(headerSize + programSize + 128));
  view.setUint32(0, 0x464c457f, true);
  view.setUint8(4, 2);
  view.setUint8(5, 1);
  view.setUint16(16, 2, true);
  view.setUint16(18, Number(machine), true);
  view.setBigUint64(32, BigInt(headerSize), true);
  view.setUint16(54, programSize, true);
  view.setUint16(56, loader === undefined ? 0 : 1, true);
  if (loader !== undefined) {
    view.setUint32(headerSize, 3, true);
    view.setBigUint64(headerSize + 8, BigInt(headerSize + programSize), true);
    view.setBigUint64(headerSize + 32, BigInt(loader.length + 1), true);
    for (const [index, c] of [...loader].entries()) view.setUint8(headerSize + programSize + index, c.charCodeAt(0));
  }
  return view.buffer;
}
