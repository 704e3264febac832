/**
 * Merges services that use the network of another service into its task, like the containers of a pod. Source: Compose specification,
 * "network_mode", "ipc", "pid".
 */
import type { Problem, TaskInput } from "../../engine/spec/index.ts";
import { engineName, type Place } from "./place.ts";
import type { ComposeInput, ServiceInput } from "./schema.ts";

/** A task, and the service to which each of its containers belongs. */
export interface Made {
  readonly keys: readonly [string, ...string[]];
  readonly input: TaskInput;
}

export type Project = Pick<ComposeInput, "services">;
export type Refuse = (message: string, path: Problem["path"]) => void;

/** Names the service whose namespace a field names. undefined: it names none, or one that the file has not. */
export function namedBy(value: string | undefined, { services }: Project): string | undefined {
  const [, kind, name = ""] = /^(service|container):(.*)$/s.exec(value ?? "") ?? [];
  if (kind === undefined) return undefined;
  if (kind === "service") return Object.hasOwn(services, name) ? name : undefined;
  return Object.keys(services).find((key) => services[key]!.container_name === name);
}

/** The service whose network this one uses. undefined: it has its own network, or the services refer to each other in a circle. */
export function networkOwner(key: string, project: Project): string | undefined {
  const seen = new Set([key]);
  let owner: string | undefined;
  for (let next = namedBy(project.services[key]?.network_mode, project); next !== undefined; ) {
    if (seen.has(next)) return undefined;
    seen.add(next);
    owner = next;
    next = namedBy(project.services[next]?.network_mode, project);
  }
  return owner;
}

/** Replaces containers in volumes_from by the services of the file that have their names. Containers of other projects stay, and are refused. */
export function withLenders(project: ComposeInput): ComposeInput {
  const lenderOf = (written: string): string => {
    const [, container, access = ""] = /^(container:[^:]+)(:.*)?$/s.exec(written) ?? [];
    const key = namedBy(container, project);
    return key === undefined ? written : `${key}${access}`;
  };
  const services = Object.entries(project.services).map(([key, service]) => {
    const { volumes_from: lenders } = service;
    return [key, lenders === undefined ? service : { ...service, volumes_from: lenders.map(lenderOf) }] as const;
  });
  return { ...project, services: Object.fromEntries(services) };
}

/** Tasks and names of a service's containers. The first container keeps its name when the number of replicas grows. */
export function placesIn(key: string, project: Project): Place[] {
  const { scale, deploy, container_name: container } = project.services[key]!;
  const own = engineName(key);
  const names = Array.from({ length: scale ?? deploy?.replicas ?? 1 }, (_, at) => (at === 0 ? own : `${own}-${at + 1}`));
  const owner = networkOwner(key, project);
  return names.map((name) => ({ task: owner === undefined ? name : engineName(owner), container: container ?? name }));
}

/** What belongs to the one whose network it is. Source: moby, runconfig/hostconfig_unix.go, validateNetMode. */
const OF_OWNER = [
  "ports",
  "dns",
  "dns_search",
  "dns_opt",
  "extra_hosts",
  "links",
  "external_links",
  "hostname",
  "mac_address",
  "uts",
  "sysctls",
] as const;

/** Moves the containers of services that use the network of another service into its task. */
export function joined(
  made: readonly Made[],
  project: ComposeInput,
  isActive: (key: string) => boolean,
  refuseAt: (key: string) => Refuse,
  warnAt: (key: string) => Refuse,
): Made[] {
  const tasks: Made[] = [];
  const moved: Made[] = [];
  for (const one of made) {
    const [key] = one.keys;
    checkNames(key, project, isActive, refuseAt(key));
    (networkOwner(key, project) === undefined ? tasks : moved).push(one);
  }
  return tasks.map((task) => {
    const [owner] = task.keys;
    const members = moved.filter(({ keys: [key] }) => networkOwner(key, project) === owner);
    if (members.length === 0) return task;
    for (const key of new Set(members.map(({ keys }) => keys[0]))) {
      checkMember(key, task, members, project, refuseAt(key));
      for (const field of ["update_config", "rollback_config"] as const)
        if (project.services[key]!.deploy?.[field] !== undefined)
          warnAt(key)(`has no effect: it is replaced together with ${owner}, whose network it is in`, ["deploy", field]);
      // If one of the services has `init`, all containers of the task share a pid namespace, whose process 1 reaps orphans.
      if (
        wishOf("pid", project.services[key]!) !== "host" &&
        Boolean(project.services[key]!.init) !== Boolean(project.services[owner]!.init)
      )
        warnAt(key)(`its processes and those of ${owner} see each other, because one of both has init`, []);
    }
    return {
      keys: [owner, ...members.map(({ keys }) => keys[0])],
      input: together(task.input, members, project.services),
    };
  });
}

function checkNames(key: string, project: ComposeInput, isActive: (key: string) => boolean, refuse: Refuse): void {
  const service = project.services[key]!;
  for (const field of ["network_mode", "ipc", "pid"] as const) {
    const value = service[field];
    if (!/^(?:service|container):/.test(value ?? "")) continue;
    const named = namedBy(value, project);
    const shown = value!.replace(":", " ");
    if (named === undefined) {
      const isOfOther = value!.startsWith("container:");
      refuse(isOfOther ? `no service has the ${shown}: containers of others are not found` : `there is no ${shown}`, [field]);
    } else if (!isActive(named)) refuse(`the service ${named} is not switched on: name one of its profiles`, [field]);
    else if (field === "network_mode" && networkOwner(key, project) === undefined) refuse("leads back to the service itself", [field]);
    else if (field !== "network_mode" && taskKey(named, project) !== taskKey(key, project)) {
      const several = [key, named].find((one) => servicesOfTask(one, project).length > 1);
      if (several !== undefined)
        refuse(`${servicesOfTask(several, project).join(" and ")} share a network: what they use otherwise has to be of one of them`, [
          field,
        ]);
    }
  }
}

/** The service whose task it is in. */
export function taskKey(key: string, project: Project): string {
  return networkOwner(key, project) ?? key;
}

function servicesOfTask(key: string, project: Project): string[] {
  return Object.keys(project.services).filter((one) => taskKey(one, project) === taskKey(key, project));
}

function checkMember(key: string, { keys: [owner], input }: Made, members: readonly Made[], project: ComposeInput, refuse: Refuse): void {
  const service = project.services[key]!;
  for (const field of OF_OWNER) if (isGiven(service[field])) refuse(`belongs to ${owner}, whose network the service is in`, [field]);
  if (placesIn(owner, project).length > 1) refuse(`${owner} has several containers: which one is meant is not known`, ["network_mode"]);
  if (service.runtime !== project.services[owner]!.runtime)
    refuse(`has to be that of ${owner}, whose network the service is in`, [service.runtime === undefined ? "network_mode" : "runtime"]);
  if (service.cgroup_parent && service.cgroup_parent !== project.services[owner]!.cgroup_parent)
    refuse(`has to be that of ${owner}, whose network the service is in`, ["cgroup_parent"]);
  for (const field of ["pid", "ipc"] as const) {
    const wish = wishOf(field, service);
    const others = [owner, ...members.map(({ keys }) => keys[0])].filter((one) => one !== key);
    const differs = others.find((one) => one !== owner && wishOf(field, project.services[one]!) !== wish);
    const ofOwner = wishOf(field, project.services[owner]!);
    const fits = wish === "shared" ? ofOwner !== "host" : ofOwner === wish;
    if (differs !== undefined || !fits) refuse(`has to be the same in all services that share the network of ${owner}`, [field]);
  }
  if (input.sysctls !== undefined && service.ipc !== undefined) refuse(`belongs to ${owner}, which has sysctls`, ["ipc"]);
}

function isGiven(value: unknown): boolean {
  return value !== undefined && Object.keys(Object(value)).length + String(value).length > 0;
}

/** What a service asks for about a namespace. */
function wishOf(field: "pid" | "ipc", service: ServiceInput): "host" | "shared" | "private" {
  const value = service[field];
  if (value === "host") return "host";
  return value?.includes(":") ? "shared" : "private";
}

/** The merged task runs as long as one of its containers does. */
function together(task: TaskInput, members: readonly Made[], services: ComposeInput["services"]): TaskInput {
  const [first] = task.containers;
  const added = members.map(({ keys: [key], input }) => renamed(input, key, first!.name));
  const isShared = (field: "pid" | "ipc") => members.some(({ keys: [key] }) => wishOf(field, services[key]!) === "shared");
  const reaps = task.namespaces?.pid !== "host" && members.some(({ keys: [key] }) => services[key]!.init);
  return {
    ...task,
    containers: [...task.containers, ...added.flatMap(({ containers }) => containers)],
    namespaces: {
      ...task.namespaces,
      ...(isShared("pid") || reaps ? { pid: "shared" as const } : {}),
      ...(isShared("ipc") ? { ipc: "shared" as const } : {}),
      ...(task.network === undefined && task.namespaces?.network === "private" ? { network: "shared" as const } : {}),
    },
    volumes: [...(task.volumes ?? []), ...added.flatMap(({ volumes = [] }) => volumes)],
    ends: "all",
    ...(members.some(({ input }) => input.start === "always") ? { start: "always" as const } : {}),
  };
}

/** Renames the volumes of a service, so that they differ from others of the task, and makes it start after the service whose network it uses. */
function renamed({ containers, volumes = [] }: TaskInput, key: string, owner: string): Pick<TaskInput, "containers" | "volumes"> {
  const [container] = containers;
  const names = new Map(volumes.map(({ name }, at) => [name, `${engineName(key).slice(0, 40)}-volume-${at}`]));
  const mounts = (container!.mounts ?? []).map((one) => (one.volume === undefined ? one : { ...one, volume: names.get(one.volume)! }));
  const dependsOn = container!.dependsOn ?? [];
  const starts = dependsOn.some((one) => one.container === owner) ? [] : [{ container: owner, condition: "START" as const }];
  return {
    containers: [{ ...container!, mounts, dependsOn: [...dependsOn, ...starts] }],
    volumes: volumes.map((one) => ({ ...one, name: names.get(one.name)! })),
  };
}
