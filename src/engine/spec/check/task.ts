/** All checks of a single task. They need only its spec. Each check is in the file of its subject. */
import type { Problem } from "../finding.ts";
import { checkReplica } from "../replica.ts";
import { checkSchedule } from "../schedule.ts";
import type { ContainerSpec } from "../schema/container.ts";
import type { TaskSpec } from "../schema/task.ts";
import { checkCombinations } from "./combinations.ts";
import { checkJoins } from "./joins.ts";
import { checkLogRouters } from "./log-router.ts";
import { checkMachine } from "./machine.ts";
import { checkNames } from "./names.ts";
import { checkNetwork } from "./network.ts";
import { checkSharedProxy } from "./shared-proxy.ts";

/** @param machines names of the runtimes of the host that make virtual machines */
export function checkTask(spec: TaskSpec, machines: readonly string[] = []): Problem[] {
  return [
    ...checkNames(spec),
    ...checkCombinations(spec),
    ...checkNetwork(spec),
    ...checkLogRouters(spec),
    ...checkSharedProxy(spec),
    ...checkLimits(spec),
    ...checkUsers(spec),
    ...checkJoins(spec),
    ...checkSchedule(spec),
    ...checkReplica(spec),
    ...(spec.runtime !== undefined && machines.includes(spec.runtime) ? checkMachine(spec) : []),
  ];
}

/** Checks limits that contradict each other, or that the kernel refuses. */
const MIB = 1024 * 1024;
/** The kernel accepts no quota below 1000 microseconds, which is a hundredth of a CPU with a period of 100 ms. Source: kernel/sched/core.c. */
const LEAST_CPUS = 0.01;
/**
 * Maximum size in bytes of all variables of a container or an agent, with their names. The kernel takes 2 MiB of variables and arguments with the
 * usual stack: execve(2).
 */
const MOST_VARIABLES = MIB;

function checkLimits({ containers, memory, cpus, pids }: TaskSpec): Problem[] {
  const wrong = (message: string, ...path: (string | number)[]): Problem => ({ code: "limit", message, path });
  const problems: Problem[] = [];
  if (cpus !== undefined && cpus < LEAST_CPUS)
    problems.push(wrong(`${cpus} CPUs are less than the kernel can count: at least ${LEAST_CPUS}`, "cpus"));
  containers.forEach((container, index) => {
    const at = (field: string, message: string) => problems.push(wrong(message, "containers", index, field));
    if (memory !== undefined && (container.memory ?? 0) > memory) {
      at("memory", `${mebibytes(container.memory!)} of the container are more than the ${mebibytes(memory)} of the task`);
    }
    if (container.memory !== undefined && (container.memoryReservation ?? 0) > container.memory) {
      at("memoryReservation", `${mebibytes(container.memoryReservation!)} are more than the limit of ${mebibytes(container.memory)}`);
    }
    if (cpus !== undefined && (container.cpus ?? 0) > cpus)
      at("cpus", `${container.cpus} CPUs of the container are more than the ${cpus} of the task`);
    if (variableBytes(container.env) > MOST_VARIABLES) at("env", TOO_MANY_VARIABLES);
    for (const [agent, { env }] of (container.agents ?? []).entries())
      if (variableBytes(env) > MOST_VARIABLES) problems.push(wrong(TOO_MANY_VARIABLES, "containers", index, "agents", agent, "env"));
    if (pids !== undefined && (container.pids ?? 0) > pids) at("pids", `${container.pids} processes are more than the ${pids} of the task`);
  });
  return problems;
}

const TOO_MANY_VARIABLES = `all variables together have more than ${MOST_VARIABLES} bytes`;

function variableBytes(env: Readonly<Record<string, string>>): number {
  let bytes = 0;
  // Each variable has two further bytes: the "=" and the final NUL.
  for (const [name, value] of Object.entries(env)) bytes += Buffer.byteLength(name) + Buffer.byteLength(value) + 2;
  return bytes;
}

function mebibytes(bytes: number): string {
  return `${Math.round((bytes / MIB) * 100) / 100} MiB`;
}

// Refuses what a task with a user namespace of its own (privateUsers) cannot have.

/** Ids of a task with privateUsers are below this number. */
const MOST = 65_536;
const TOO_HIGH = `with privateUsers ids are below ${MOST}`;

function checkUsers({ privateUsers, containers, namespaces, network, volumes }: TaskSpec): Problem[] {
  const wrong = (message: string, ...path: (string | number)[]): Problem => ({ code: "combination", message, path });
  if (!privateUsers) return [];
  const ofHost = Object.entries({ ...namespaces, network: network?.mode ?? namespaces.network }).filter(([, mode]) => mode === "host");
  return [
    ...ofHost.map(([name]) => wrong("with privateUsers a task has no namespace of the host", "namespaces", name)),
    ...volumes.flatMap(({ group = 0 }, at) => (group < MOST ? [] : [wrong(TOO_HIGH, "volumes", at, "group")])),
    ...volumes.flatMap(({ image }, at) =>
      image === undefined
        ? []
        : [wrong("with privateUsers an image is no volume: its files belong to users of the host", "volumes", at, "image")],
    ),
    ...containers.flatMap((container, at) =>
      containerProblems(container).map(({ message, path }) => wrong(message, "containers", at, ...path)),
    ),
  ];
}

function containerProblems({
  bundle,
  rootfs,
  privileged,
  user,
  groups = [],
  secrets = [],
  devices,
  deviceRules,
  cdi,
}: ContainerSpec): Pick<Problem, "message" | "path">[] {
  const ids = (user ?? "").split(":").map(Number);
  return [
    ...(bundle === undefined ? [] : [{ message: "with privateUsers it needs an image", path: ["bundle"] }]),
    ...(rootfs === undefined
      ? []
      : [{ message: "with privateUsers it needs an image: the files of a directory belong to users of the host", path: ["rootfs"] }]),
    ...(privileged
      ? [{ message: "with privateUsers it cannot be privileged: it would have no rights over the host's devices", path: ["privileged"] }]
      : []),
    ...Object.entries({ devices, deviceRules, cdi }).flatMap(([field, given]) =>
      given === undefined ? [] : [{ message: "with privateUsers it has no devices of the host", path: [field] }],
    ),
    ...(ids.some((id) => id >= MOST) ? [{ message: TOO_HIGH, path: ["user"] }] : []),
    ...groups.flatMap((id, at) => (typeof id === "string" || id < MOST ? [] : [{ message: TOO_HIGH, path: ["groups", at] }])),
    ...secrets.flatMap(({ uid }, at) => (uid < MOST ? [] : [{ message: TOO_HIGH, path: ["secrets", at, "uid"] }])),
  ];
}
