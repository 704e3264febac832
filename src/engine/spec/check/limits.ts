/** Checks limits that contradict each other, or that the kernel refuses. */
import type { Problem } from "../finding.ts";
import type { TaskSpec } from "../schema/task.ts";

const MIB = 1024 * 1024;
/** The kernel accepts no quota below 1000 microseconds, which is a hundredth of a CPU with a period of 100 ms. Source: kernel/sched/core.c. */
const LEAST_CPUS = 0.01;
/** In bytes, with their names: all variables of a container, or of an agent. The kernel takes 2 MiB of variables and arguments with the usual stack: execve(2). */
const MOST_VARIABLES = MIB;

export function checkLimits({ containers, memory, cpus, pids }: TaskSpec): Problem[] {
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
  // With the "=" between and the NUL behind.
  for (const [name, value] of Object.entries(env)) bytes += Buffer.byteLength(name) + Buffer.byteLength(value) + 2;
  return bytes;
}

function mebibytes(bytes: number): string {
  return `${Math.round((bytes / MIB) * 100) / 100} MiB`;
}
