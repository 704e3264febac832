/** Converts a path in a task to the path of the service's field that it comes from. */
import type { Problem } from "../../engine/spec/index.ts";

const FIELDS: Readonly<Record<string, string>> = {
  rootfs: "x-runt-rootfs",
  pullPolicy: "pull_policy",
  cwd: "working_dir",
  env: "environment",
  capabilities: "cap_add",
  dependsOn: "depends_on",
  healthCheck: "healthcheck",
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
  oomScoreAdj: "oom_score_adj",
  memory: "mem_limit",
  memoryReservation: "mem_reservation",
  pids: "pids_limit",
  seccomp: "security_opt",
};
const OF_TASK: Readonly<Record<string, string>> = { sysctls: "sysctls", runtime: "runtime", dns: "dns", volumes: "volumes" };
const OF_NETWORK: Readonly<Record<string, string>> = {
  hosts: "extra_hosts",
  dns: "dns",
  aliases: "networks",
  further: "networks",
  name: "networks",
};

/** Namespaces of a task. */
const NAMESPACES: Readonly<Record<string, string>> = { network: "network_mode", pid: "pid", ipc: "ipc", uts: "uts" };

export function fieldOf(path: Problem["path"]): Problem["path"] {
  const [list, at, field, part] = path;
  if (list === "network") return [OF_NETWORK[String(at)] ?? "ports"];
  if (list === "namespaces") return NAMESPACES[String(at)] === undefined ? [] : [NAMESPACES[String(at)]!];
  if (typeof list === "string" && OF_TASK[list] !== undefined) return [OF_TASK[list]];
  if (field === "capabilities" && part === "drop") return ["cap_drop"];
  return typeof field === "string" ? [FIELDS[field] ?? field] : [];
}
