/** Checks dependencies over all tasks of a group: each must name an existing container, none may be part of a cycle, and each must be satisfiable. */
import { dependenciesOf, dependencyTarget } from "../dependencies.ts";
import type { Problem } from "../finding.ts";
import { checkReplicas } from "../replica.ts";
import type { ContainerSpec, Dependency } from "../schema/container.ts";
import type { TaskSpec } from "../schema/task.ts";
import { checkJoinedTasks } from "./joins.ts";
import { checkRouterReferences } from "./log-router.ts";
import { duplicates } from "./names.ts";
import { checkProxyReferences } from "./shared-proxy.ts";

export interface GroupProblem extends Problem {
  /** Index of the task in the group. */
  readonly task: number;
}

/** A dependency, with both containers. */
interface Edge {
  readonly task: number;
  readonly path: readonly (string | number)[];
  readonly from: string;
  readonly to: string;
  readonly dependency: Dependency;
  readonly target: ContainerSpec | undefined;
  readonly endsTask: boolean;
  /** The other container belongs to another task, which has a schedule. Such a task starts no containers: each of its runs is another task. */
  readonly isScheduled: boolean;
}

export function checkGroup(tasks: readonly TaskSpec[]): GroupProblem[] {
  const edges = edgesOf(tasks);
  return [
    ...duplicates(tasks.map(({ name }) => name)).map(
      (task): GroupProblem => ({ task, code: "duplicate-name", message: `the task ${tasks[task]!.name} is there twice`, path: ["name"] }),
    ),
    ...edges.flatMap(({ task, path, ...edge }) => {
      const never = whyNever(edge);
      return never === undefined ? [] : [{ task, path, ...never }];
    }),
    ...cycleProblems(edges),
    ...checkRouterReferences(tasks),
    ...checkProxyReferences(tasks),
    ...checkJoinedTasks(tasks),
    ...checkReplicas(tasks),
  ];
}

function edgesOf(tasks: readonly TaskSpec[]): Edge[] {
  const containers = new Map(tasks.flatMap(({ name, containers: all }) => all.map((one) => [`${name}/${one.name}`, one] as const)));
  const scheduled = new Set(tasks.flatMap(({ name, schedule }) => (schedule === undefined ? [] : [name])));
  return tasks.flatMap((spec, task) =>
    spec.containers.flatMap((container, index) =>
      dependenciesOf(container).map((dependency, at) => {
        const named = dependencyTarget(spec.name, dependency);
        const path = at < container.dependsOn.length ? ["dependsOn", at, "container"] : ["log", "router"];
        return {
          task,
          path: ["containers", index, ...path],
          from: `${spec.name}/${container.name}`,
          to: `${named.task}/${named.container}`,
          dependency,
          target: containers.get(`${named.task}/${named.container}`),
          endsTask: named.task === spec.name && spec.ends !== "all",
          isScheduled: named.task !== spec.name && scheduled.has(named.task),
        };
      }),
    ),
  );
}

function whyNever({
  dependency,
  target,
  endsTask,
  isScheduled,
}: Omit<Edge, "task" | "path">): Pick<Problem, "code" | "message"> | undefined {
  const { condition, container } = dependency;
  const never = (message: string) => ({ code: "dependency-never", message }) as const;
  if (target === undefined) return { code: "unknown-reference", message: `there is no container ${container}` };
  if (isScheduled) return never(`${container} is of a task with a schedule: each of its runs is another task`);
  if (condition === "HEALTHY" && !mayBeChecked(target)) return never(`${container} has no health check: it never becomes HEALTHY`);
  if (condition !== "SUCCESS" && condition !== "COMPLETE") return undefined;
  if (endsTask && target.essential) return never(`${container} is essential: the task stops when it ends`);
  if (condition === "SUCCESS" && restartsAfterSuccess(target)) return never(`${container} is started again whenever it ends with 0`);
  return undefined;
}

/** The check of an image is known when it was pulled. */
function mayBeChecked({ healthCheck, image, imageHealthCheck }: ContainerSpec): boolean {
  return healthCheck !== undefined || (image !== undefined && imageHealthCheck !== false);
}

function restartsAfterSuccess({ restart }: ContainerSpec): boolean {
  const mayEnd = restart?.ignoredExitCodes.includes(0) || restart?.maximumCount !== undefined || (restart?.minimumRunTime ?? 0) > 0;
  return restart?.enabled === true && !mayEnd;
}

function cycleProblems(edges: readonly Edge[]): GroupProblem[] {
  const graph = new Map<string, string[]>();
  for (const { from, to } of edges) {
    const targets = graph.get(from);
    if (targets === undefined) graph.set(from, [to]);
    else targets.push(to);
  }
  return cyclesOf(graph).map((members) => {
    const edge = edges.find(({ from, to }) => from === members[0] && to === (members[1] ?? members[0]))!;
    const own = members.every((member) => member.startsWith(`${members[0]!.split("/")[0]}/`));
    const names = own ? members.map((member) => member.slice(member.indexOf("/") + 1)) : members;
    return {
      task: edge.task,
      path: edge.path,
      code: "dependency-cycle",
      message: `containers wait for each other: ${[...names, names[0]].join(" -> ")}`,
    };
  });
}

// Finds cycles in a directed graph.

/**
 * Returns one cycle for each back edge of a depth-first search. Each cycle lists its members in order, starting with the one that is first in the
 * graph. Empty if and only if the graph has no cycle.
 */
function cyclesOf(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const done = new Set<string>();
  const cycles: string[][] = [];
  for (const start of graph.keys()) {
    // An explicit stack, because a chain of containers may be longer than the call stack of the JavaScript engine.
    const way: { node: string; next: number }[] = done.has(start) ? [] : [{ node: start, next: 0 }];
    const onWay = new Set(way.map(({ node }) => node));
    while (way.length > 0) {
      const last = way.at(-1)!;
      const target = graph.get(last.node)?.[last.next++];
      if (target === undefined) {
        done.add(last.node);
        onWay.delete(last.node);
        way.pop();
      } else if (onWay.has(target)) {
        cycles.push(way.slice(way.findIndex(({ node }) => node === target)).map(({ node }) => node));
      } else if (!done.has(target)) {
        way.push({ node: target, next: 0 });
        onWay.add(target);
      }
    }
  }
  return cycles;
}
