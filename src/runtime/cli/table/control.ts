/** Verbs that change a container that exists. */
import { type FlagDefinition, flag, type VerbDefinition } from "./definition.ts";

const UPDATE_FLAGS: readonly FlagDefinition[] = [
  flag("resources", "string", "read linux.resources as JSON from this file, or from stdin (-); the flags for it are ignored then", {
    short: "r",
    value: "FILE",
  }),
  flag("blkio-weight", "string", "block I/O weight, 10 to 1000", { value: "N" }),
  flag("cpu-period", "string", "CFS period in microseconds", { value: "N" }),
  flag("cpu-quota", "string", "CFS quota in microseconds a period; -1 = unlimited", { value: "N" }),
  flag("cpu-burst", "string", "CFS burst in microseconds", { value: "N" }),
  flag("cpu-share", "string", "relative weight of the container's CPU time", { value: "N" }),
  flag("cpu-rt-period", "string", "real-time period in microseconds", { value: "N" }),
  flag("cpu-rt-runtime", "string", "real-time runtime in microseconds", { value: "N" }),
  flag("cpu-idle", "string", "1: run only on otherwise idle CPUs; 0: normal", { value: "N" }),
  flag("cpuset-cpus", "string", "CPUs to use (0-3,7)", { value: "LIST" }),
  flag("cpuset-mems", "string", "memory nodes to use", { value: "LIST" }),
  flag("memory", "string", "memory limit in bytes, or with b, k, m, g, t, p; -1 = unlimited", { value: "SIZE" }),
  flag("memory-reservation", "string", "memory protected under pressure", { value: "SIZE" }),
  flag("memory-swap", "string", "limit of memory and swap together; -1 = unlimited swap", { value: "SIZE" }),
  flag("pids-limit", "string", "maximum number of processes; -1 = unlimited", { value: "N" }),
  flag("l3-cache-schema", "string", "share of the L3 cache, as in linux.intelRdt (L3:0=ff;1=c0)", { value: "SCHEMA" }),
  flag("mem-bw-schema", "string", "share of the memory bandwidth, as in linux.intelRdt (MB:0=50;1=70)", { value: "SCHEMA" }),
  flag("kernel-memory", "string", "has no effect", { hidden: true }),
  flag("kernel-memory-tcp", "string", "has no effect", { hidden: true }),
];

const REGEX = flag("regex", "boolean", "the id is a regular expression: every container whose id it matches", { short: "r" });

export const CONTROL_VERBS: readonly VerbDefinition[] = [
  {
    name: "kill",
    summary: "send a signal to the container's process",
    positionals: "<container-id> [signal]",
    minimum: 1,
    maximum: 2,
    flags: [
      flag("all", "boolean", "send it to every process of the container", { short: "a" }),
      flag("cgroup", "string", "send it to every process in this cgroup below the container's own, [CONTROLLER,...:]PATH", {
        value: "CGROUP",
      }),
      REGEX,
    ],
  },
  {
    name: "pause",
    summary: "freeze every process of a container",
    positionals: "<container-id>",
    minimum: 1,
    maximum: 1,
    flags: [],
  },
  {
    name: "resume",
    summary: "thaw the processes of a paused container",
    positionals: "<container-id>",
    minimum: 1,
    maximum: 1,
    flags: [],
  },
  {
    name: "update",
    summary: "change the limits of a container",
    positionals: "<container-id>",
    minimum: 1,
    maximum: 1,
    flags: UPDATE_FLAGS,
  },
  {
    name: "delete",
    summary: "delete a stopped container",
    positionals: "<container-id>",
    minimum: 1,
    maximum: 1,
    flags: [
      flag("force", "boolean", "kill it first if it runs; an unknown id is not an error", { short: "f" }),
      REGEX,
      flag("state-fd", "number", "of the monitor: only when this locked descriptor is the container's directory", {
        hidden: true,
        value: "N",
      }),
    ],
  },
  {
    name: "gc",
    summary: "remove leftovers of containers that no longer exist",
    positionals: "",
    minimum: 0,
    maximum: 0,
    flags: [
      flag("dry-run", "boolean", "show what would be removed, and remove nothing"),
      flag("yes", "boolean", "remove leftovers even if --root is not below the default state directory", { short: "y" }),
      flag("format", "string", "form of the output (default: text)", { short: "f", value: "text|json" }),
    ],
  },
  {
    name: "mounts",
    summary: "add bind mounts to a running container, or remove mounts",
    positionals: "<add|remove> <container-id> <file>",
    minimum: 3,
    maximum: 3,
    flags: [],
  },
  {
    name: "service",
    summary: "notify systemd, make a slice, or show the peer of a socket",
    positionals: "<notify|peer|slice> [argument...]",
    minimum: 1,
    maximum: Number.POSITIVE_INFINITY,
    flags: [],
  },
];
