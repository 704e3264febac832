/** Services that use the pid or ipc namespace of a service in another task. Source: Compose specification, "pid", "ipc"; moby, daemon/oci_linux.go. */
import type { TaskInput } from "../../engine/spec/index.ts";
import { type Made, namedBy, type Project, type Refuse, taskKey } from "./joined.ts";

type Field = "pid" | "ipc";

/** What Docker makes for a container that says no other size. */
const SHARED_MEMORY = "64Mi";
const MEMORY_PLACE = "/dev/shm";
const MEMORY_NAME = "shared-memory";

/** The other task shares the namespace, which one more process holds, so that it stays when its service restarts. */
export function joining(made: readonly Made[], project: Project, refuseAt: (key: string) => Refuse): Made[] {
  const shared = new Map<string, Set<Field>>();
  const all = made.map((one): Made => {
    const [key] = one.keys;
    if (one.keys.length > 1) return one;
    let { input } = one;
    for (const field of ["pid", "ipc"] as const) {
      const named = namedBy(project.services[key]![field], project);
      if (named === undefined || taskKey(named, project) === taskKey(key, project)) continue;
      const owner = ownerOf(field, key, project);
      if (owner === undefined) refuseAt(key)("leads back to the service itself", [field]);
      else if (field === "ipc" && project.services[owner]!.ipc === "none")
        refuseAt(key)(`${owner} has ipc: none, which nobody can share`, [field]);
      else if (project.services[owner]![field] === "host") input = { ...input, namespaces: { ...input.namespaces, [field]: "host" } };
      else {
        shared.set(owner, (shared.get(owner) ?? new Set()).add(field));
        const holder = made.find(({ keys }) => keys[0] === owner)?.input;
        if (holder !== undefined) input = joinedTo(holder, field, input);
      }
    }
    return { ...one, input };
  });
  return all.map((one) => ({ ...one, input: sharing(one.input, shared.get(one.keys[0]) ?? new Set()) }));
}

/** The service that has the namespace itself. undefined: they name each other. */
function ownerOf(field: Field, key: string, project: Project): string | undefined {
  const seen = new Set([key]);
  let owner = key;
  for (
    let next = namedBy(project.services[key]![field], project);
    next !== undefined;
    next = namedBy(project.services[next]![field], project)
  ) {
    if (seen.has(next)) return undefined;
    seen.add(next);
    owner = next;
  }
  return owner;
}

/** Without the other task it cannot run: it starts after that one, and is replaced and restarted together with it. */
function joinedTo({ name, containers: [holder] }: TaskInput, field: Field, input: TaskInput): TaskInput {
  const target = `${name}/${holder!.name}`;
  const [{ dependsOn = [], shmSize, ...container }, ...others] = input.containers as [TaskInput["containers"][number]];
  const isKnown = dependsOn.some((one) => one.container === target);
  const all = isKnown
    ? dependsOn.map((one) => (one.container === target ? { ...one, restart: true } : one))
    : [...dependsOn, { container: target, condition: "START" as const, restart: true }];
  return {
    ...input,
    containers: [{ ...container, dependsOn: all, ...(field === "ipc" || shmSize === undefined ? {} : { shmSize }) }, ...others],
    // The process that holds the other namespace reaps, too.
    namespaces: { ...input.namespaces, ...(field === "pid" ? { pid: "private" as const } : {}) },
    joins: { ...input.joins, [field]: name },
  };
}

/** Those who share System V memory also have one /dev/shm. */
function sharing(input: TaskInput, fields: ReadonlySet<Field>): TaskInput {
  if (fields.size === 0) return input;
  const namespaces = { ...input.namespaces, ...Object.fromEntries([...fields].map((field) => [field, "shared"])) };
  const [{ shmSize = SHARED_MEMORY, mounts = [], ...container }, ...others] = input.containers as [TaskInput["containers"][number]];
  if (!fields.has("ipc") || mounts.some(({ target }) => target === MEMORY_PLACE)) return { ...input, namespaces };
  const volumes = input.volumes ?? [];
  const name = volumes.some((one) => one.name === MEMORY_NAME) ? `${MEMORY_NAME}-${volumes.length}` : MEMORY_NAME;
  return {
    ...input,
    namespaces,
    containers: [{ ...container, mounts: [...mounts, { volume: name, target: MEMORY_PLACE, noExec: true as const }] }, ...others],
    volumes: [...volumes, { name, medium: "memory", size: shmSize }],
  };
}
