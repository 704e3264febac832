/** Checks log routers and the containers that send to them. */
import { dependencyTarget } from "../dependencies.ts";
import type { Problem } from "../finding.ts";
import { namespacesOf } from "../namespaces.ts";
import type { ContainerSpec } from "../schema/container.ts";
import type { TaskSpec } from "../schema/task.ts";

export function checkLogRouters(task: TaskSpec): Problem[] {
  const routers = task.containers.flatMap(({ logRouter }, index) => (logRouter ? [index] : []));
  return [
    ...routers.slice(1).map((index) => wrong("the task has a log router already", index, "logRouter")),
    ...task.containers.flatMap((container, index) =>
      senderProblems(task, container).map(([message, ...path]) => wrong(message, index, ...path)),
    ),
  ];
}

/** Checks that the containers named in `log.router` are log routers. A name without a container is left to the check of dependencies. */
export function checkRouterReferences(tasks: readonly TaskSpec[]): (Problem & { readonly task: number })[] {
  const all = new Map(tasks.flatMap(({ name, containers }) => containers.map((one) => [`${name}/${one.name}`, one] as const)));
  return tasks.flatMap(({ name, containers }, task) =>
    containers.flatMap(({ log }, index) => {
      if (log?.router === undefined) return [];
      const named = dependencyTarget(name, { container: log.router });
      const target = all.get(`${named.task}/${named.container}`);
      if (target === undefined || target.logRouter) return [];
      return [{ ...wrong(`container ${log.router} is no log router`, index, "log", "router"), task }];
    }),
  );
}

type Wrong = readonly [message: string, ...path: (string | number)[]];

function senderProblems(task: TaskSpec, { log = {}, bundle }: ContainerSpec): Wrong[] {
  const { router, driver, forward, receiver, tag, options, secretOptions } = log;
  const given = Object.entries({ tag, options, secretOptions }).flatMap(([field, value]) => (value === undefined ? [] : [field]));
  if (router === undefined) return given.map((field): Wrong => ["needs router", "log", field]);
  const problems: Wrong[] = [];
  if (driver === "journald") problems.push(["goes to the journal already: give one", "log", "router"]);
  if (forward !== undefined || receiver !== undefined) problems.push(["is forwarded already: give one", "log", "router"]);
  if (bundle !== undefined) problems.push(["config.json of a bundle has all variables, and the router's address is one", "log", "router"]);
  if (router.includes("/")) {
    for (const field of given.filter((one) => one !== "tag")) problems.push(["is for a router of the same task", "log", field]);
  } else if (namespacesOf(task).network === "private" && task.network === undefined) {
    problems.push(["needs a network that the containers share: the router could not be reached", "log", "router"]);
  }
  for (const [option, secret] of Object.entries(secretOptions ?? {})) {
    if (!(task.secrets ?? []).some(({ name }) => name === secret))
      problems.push([`the task has no secret ${secret}`, "log", "secretOptions", option]);
    if (options?.[option] !== undefined) problems.push([`${option} is in options, too`, "log", "secretOptions", option]);
  }
  return problems;
}

function wrong(message: string, index: number, ...path: (string | number)[]): Problem {
  return { code: "combination", message, path: ["containers", index, ...path] };
}
