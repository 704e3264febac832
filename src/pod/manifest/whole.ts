/** Computes the limits of a whole pod: its own limits, the sum of its containers, or a size that the host offers. */
import type { TaskInput } from "../../engine/spec/index.ts";
import { quantityIn } from "../quantity.ts";
import { type Amounts, podTotal, resourcesOf } from "../resources.ts";
import { DEVICES, PAGES } from "../schema/container.ts";
import { sizeFor } from "../sizes.ts";
import { pagesOf } from "./container.ts";
import { type Member, membersOf } from "./members.ts";
import type { Path, Translation } from "./translation.ts";

type Whole = Pick<TaskInput, "cpus" | "memory">;

/** The smallest quota that the kernel accepts, in CPUs. */
const LEAST_CPUS = 0.01;
const MIB = 1024 * 1024;

/** A pod has a limit only if each of its containers has one. */
export function wholeOf(at: Translation, members: readonly Member[]): Whole {
  const { sizes } = at.host;
  const limits = members.map(({ container }) => resourcesOf(container.resources).limits);
  const said = resourcesOf(at.pod.spec.resources).limits;
  const whole = (name: "cpu" | "memory") => said[name] ?? total(members, limits, name) ?? 0;
  if (sizes === undefined) return limitsOf({ cpu: whole("cpu"), memory: whole("memory") });
  // A container without a limit counts with its request, or with nothing if it has no request either.
  const needs = members.map(({ container }) => {
    const { limits: most, requests } = resourcesOf(container.resources);
    return { cpu: most.cpu ?? requests.cpu ?? 0, memory: most.memory ?? requests.memory ?? 0 };
  });
  const { requests } = resourcesOf(at.pod.spec.resources);
  const needed = (name: "cpu" | "memory") => said[name] ?? requests[name] ?? total(members, needs, name) ?? 0;
  const need = { cpu: needed("cpu"), memory: needed("memory") };
  const size = sizeFor(need, sizes);
  if (size !== undefined) return limitsOf(size);
  const [cpus, memory] = [need.cpu / 1000, Math.ceil(need.memory / MIB)];
  at.refuse(`needs ${cpus} CPUs and ${memory} MiB of memory, and no size of this host holds that`, ["spec", "containers"], "limit");
  return {};
}

/** Huge pages of the whole pod. Source: validatePodResources of Kubernetes: its containers together have at most as many. */
export function wholePages(at: Translation, members: readonly Member[]): Pick<TaskInput, "hugepages"> {
  const here: Path = ["spec", "resources"];
  const whole = pagesOf(at, at.pod.spec.resources, here);
  for (const name of Object.keys(at.pod.spec.resources?.limits ?? {}).filter((one) => PAGES.test(one))) {
    const amount = (given: unknown) => (given === undefined ? 0 : quantityIn(given as string | number));
    const needs = members.map(({ container }) => ({ storage: amount(container.resources?.limits?.[name]) }));
    if ((total(members, needs, "storage") ?? 0) > amount(at.pod.spec.resources!.limits![name]))
      at.refuse("is less than its containers have", [...here, "limits", name]);
  }
  return whole;
}

/** Source: validatePodResources of Kubernetes. */
export function checkWhole(at: Translation): void {
  const { resources } = at.pod.spec;
  if (resources === undefined) return;
  const { limits, requests } = resourcesOf(resources);
  const here: Path = ["spec", "resources"];
  for (const list of ["limits", "requests"] as const)
    for (const name of Object.keys(resources[list] ?? {}))
      if (DEVICES.test(name)) at.refuse("is of containers only", [...here, list, name]);
  for (const list of ["limits", "requests"] as const)
    if (resources[list]?.["ephemeral-storage"] !== undefined) at.refuse("is of containers only", [...here, list, "ephemeral-storage"]);
  for (const name of ["cpu", "memory"] as const) {
    const [most, asked] = [limits[name], requests[name]];
    if (most !== undefined && asked !== undefined && asked > most) at.refuse("is more than the limit", [...here, "requests", name]);
    const members = membersOf(at.pod);
    for (const { container, path } of members) {
      const own = resourcesOf(container.resources).limits[name];
      if (most !== undefined && own !== undefined && own > most)
        at.refuse("is more than the pod may have", [...path, "resources", "limits", name]);
    }
    const sum = total(
      members,
      members.map(({ container }) => ({ [name]: resourcesOf(container.resources).requests[name] ?? 0 })),
      name,
    );
    if (asked !== undefined && (sum ?? 0) > asked) at.refuse("is less than its containers request", [...here, "requests", name]);
  }
}

function limitsOf({ cpu, memory }: Required<Pick<Amounts, "cpu" | "memory">>): Whole {
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

/** Limit of disk space for containers and volumes together: the sum of the limits of the containers, if each has one. */
export function storageOf(members: readonly Member[]): Pick<TaskInput, "storage"> {
  const storage = total(
    members,
    members.map(({ container }) => resourcesOf(container.resources).limits),
    "storage",
  );
  return storage ? { storage } : {};
}
