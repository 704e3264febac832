/** Converts a path in a task to the path in the Compose file from which it was translated. */
import type { Problem } from "../../engine/spec/index.ts";
import type { Made } from "./joined.ts";

/** Names of task fields and the Compose fields that they come from. */
const FIELDS: Readonly<Record<string, string>> = {
  rootfs: "x-runt-rootfs",
  pullPolicy: "pull_policy",
  cwd: "working_dir",
  env: "environment",
  capabilities: "cap_add",
  dependsOn: "depends_on",
  healthCheck: "healthcheck",
  imageHealthCheck: "healthcheck",
  imageEntrypoint: "entrypoint",
  postStart: "post_start",
  preStop: "pre_stop",
  stopSignal: "stop_signal",
  stopTimeout: "stop_grace_period",
  mounts: "volumes",
  log: "logging",
  groups: "group_add",
  annotations: "labels",
  cpuShares: "cpu_shares",
  rlimits: "ulimits",
  shmSize: "shm_size",
  rootSize: "storage_opt",
  hostCgroups: "cgroup",
  oomScoreAdj: "oom_score_adj",
  memory: "mem_limit",
  memoryReservation: "mem_reservation",
  pids: "pids_limit",
  memorySwap: "memswap_limit",
  deviceRules: "device_cgroup_rules",
  apparmor: "security_opt",
  cdi: "devices",
  blockIo: "blkio_config",
  seccomp: "security_opt",
  unmasked: "security_opt",
};
const OF_TASK: Readonly<Record<string, string>> = {
  sysctls: "sysctls",
  runtime: "runtime",
  cgroupParent: "cgroup_parent",
  dns: "dns",
  volumes: "volumes",
};
const OF_NETWORK: Readonly<Record<string, string>> = {
  hosts: "extra_hosts",
  links: "external_links",
  dns: "dns",
  aliases: "networks",
  further: "networks",
  name: "networks",
  subnet: "networks",
  gateway: "networks",
  range: "networks",
  reserved: "networks",
  address: "networks",
  mac: "mac_address",
  interface: "networks",
  link: "networks",
};

/** Namespaces of a task and the Compose fields that they come from. */
const NAMESPACES: Readonly<Record<string, string>> = { network: "network_mode", pid: "pid", ipc: "ipc", uts: "uts" };

/** Converts a path in a task to a path in the file. Containers of a task are its services, in the same order. */
export function placeIn({ keys }: Made, path: Problem["path"]): Problem["path"] {
  const [list, at] = path;
  return ["services", (list === "containers" && keys[Number(at)]) || keys[0]!, ...fieldOf(path)];
}

export function fieldOf(path: Problem["path"]): Problem["path"] {
  const [list, at, field, part] = path;
  if (list === "joins") return [String(at)];
  if (list === "network") return [OF_NETWORK[String(at)] ?? "ports"];
  if (list === "namespaces") return NAMESPACES[String(at)] === undefined ? [] : [NAMESPACES[String(at)]!];
  if (typeof list === "string" && OF_TASK[list] !== undefined) return [OF_TASK[list]];
  if (field === "capabilities" && part === "drop") return ["cap_drop"];
  return typeof field === "string" ? [FIELDS[field] ?? field] : [];
}
