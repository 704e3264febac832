/** Refuses fields of a task that this engine is configured not to support, before anything is done. */
import { checkMachine, machinesOf, pointerOf, type TaskSpec, unknownRuntime } from "../spec/index.ts";

export interface Refused {
  /** JSON pointer into the task. */
  readonly pointer: string;
  readonly message: string;
}

/** What the configuration of the engine allows. */
export interface HostSupport {
  readonly hasTaskLimits: boolean;
  /** Programs of runtimes that tasks may name, by their names. */
  readonly runtimes: Runtimes;
  /** Sizes of huge pages for which the kernel has a limit, such as "2MB". */
  readonly hugepages: readonly string[];
  /** Names of the credentials of registries; absent: none. */
  readonly credentials?: readonly string[];
  /** The engine's own cgroup below each hierarchy; undefined: systemd manages the cgroups of tasks. */
  readonly cgroup: string | undefined;
  readonly networks: {
    /** What the host lacks at the moment to give tasks a bridge, as far as its files say; undefined: nothing. Tasks with network.fallback then have only loopback. */
    readonly lacks: string | undefined;
  };
}

export type Runtimes = Readonly<Record<string, string>>;

/** One refusal for each field that the engine does not support; empty: it supports the task. */
export function refusedByHost(task: TaskSpec, { hasTaskLimits, runtimes, hugepages, cgroup }: HostSupport): Refused[] {
  const { cpus, memory, pids, hugepages: pages, runtime } = task;
  const unknown = runtime === undefined ? undefined : unknownRuntime(runtime, Object.keys(runtimes));
  const inMachine = isInMachine(task, runtimes) ? checkMachine(task) : [];
  const refused = [
    ...(unknown === undefined ? [] : [{ pointer: "/runtime", message: unknown }]),
    ...pagesRefused(task, hugepages),
    ...parentRefused(task, hasTaskLimits ? cgroup : undefined),
    ...inMachine.map(({ path, message }) => ({ pointer: pointerOf(path), message })),
  ];
  // systemd.resource-control(5) has no property for huge pages.
  if (hasTaskLimits && cgroup === undefined && pages !== undefined)
    return [...refused, { pointer: "/hugepages", message: "systemd, which manages the cgroups of this host, has no limit of huge pages" }];
  if (hasTaskLimits) return refused;
  const limits = Object.entries({ cpus, memory, pids, hugepages: pages })
    .filter(([, limit]) => limit !== undefined)
    .map(([name]) => ({ pointer: `/${name}`, message: "limits of whole tasks are switched off on this host" }));
  return [...refused, ...limits];
}

function pagesRefused({ containers, hugepages: ofTask = {} }: TaskSpec, known: readonly string[]): Refused[] {
  const why = (pageSize: string) =>
    known.length === 0
      ? "the use of huge pages is not limited on this host: its kernel has no controller hugetlb, or it is not mounted"
      : `this host has no pages of ${pageSize}: only of ${known.join(", ")}`;
  const all = [
    { path: ["hugepages"], pages: ofTask },
    ...containers.map(({ hugepages = {} }, index) => ({ path: ["containers", index, "hugepages"], pages: hugepages })),
  ];
  return all.flatMap(({ path, pages }) =>
    Object.keys(pages)
      .filter((pageSize) => !known.includes(pageSize))
      .map((pageSize) => ({ pointer: pointerOf([...path, pageSize]), message: why(pageSize) })),
  );
}

/** In its own cgroup the engine ends processes that nobody knows. */
function parentRefused({ cgroupParent: parent }: TaskSpec, own: string | undefined): Refused[] {
  const why = (message: string) => [{ pointer: "/cgroupParent", message }];
  if (parent === undefined) return [];
  if (own === undefined) return why("on this host tasks have no cgroups of their own that the engine makes as directories");
  const isInside = parent === own || parent.startsWith(`${own === "/" ? "" : own}/`);
  return isInside ? why(`${parent} is in the cgroup of the engine, ${own}: write the name without a slash at its beginning`) : [];
}

/** Whether the containers of the task run in a virtual machine. */
export function isInMachine({ runtime }: Pick<TaskSpec, "runtime">, runtimes: Runtimes): boolean {
  return runtime !== undefined && machinesOf(runtimes).includes(runtime);
}
