/** Computes the limits of a whole pod: the sum of its containers, or the size that the host offers for it. */
import type { TaskInput } from "../../engine/spec/index.ts";
import { type Amounts, podTotal, resourcesOf } from "../resources.ts";
import { sizeFor } from "../sizes.ts";
import type { Member } from "./members.ts";
import type { Translation } from "./translation.ts";

type Whole = Pick<TaskInput, "cpus" | "memory">;

/** The smallest quota that the kernel accepts, in CPUs. */
const LEAST_CPUS = 0.01;
const MIB = 1024 * 1024;

/** A pod has a limit only if each of its containers has one. */
export function wholeOf(at: Translation, members: readonly Member[]): Whole {
  const { sizes } = at.host;
  const limits = members.map(({ container }) => resourcesOf(container.resources).limits);
  if (sizes === undefined) return limitsOf({ cpu: total(members, limits, "cpu") ?? 0, memory: total(members, limits, "memory") ?? 0 });
  // A container without a limit counts with its request, or with nothing if it has no request either.
  const needs = members.map(({ container }) => {
    const { limits: most, requests } = resourcesOf(container.resources);
    return { cpu: most.cpu ?? requests.cpu ?? 0, memory: most.memory ?? requests.memory ?? 0 };
  });
  const need = { cpu: total(members, needs, "cpu") ?? 0, memory: total(members, needs, "memory") ?? 0 };
  const size = sizeFor(need, sizes);
  if (size !== undefined) return limitsOf(size);
  const [cpus, memory] = [need.cpu / 1000, Math.ceil(need.memory / MIB)];
  at.refuse(`needs ${cpus} CPUs and ${memory} MiB of memory, and no size of this host holds that`, ["spec", "containers"], "limit");
  return {};
}

function limitsOf({ cpu, memory }: Required<Amounts>): Whole {
  return { ...(cpu ? { cpus: Math.max(LEAST_CPUS, cpu / 1000) } : {}), ...(memory ? { memory } : {}) };
}

/** undefined: a container has no such limit. */
function total(members: readonly Member[], amounts: readonly Amounts[], name: keyof Amounts): number | undefined {
  const all = members.map(({ role }, index) => ({ role, value: amounts[index]?.[name] }));
  return podTotal({
    containers: all.filter(({ role }) => role === "main").map(({ value }) => value),
    init: all.filter(({ role }) => role !== "main").map(({ role, value }) => ({ value, isSidecar: role === "sidecar" })),
  });
}
