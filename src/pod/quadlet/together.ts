/** Makes tasks of containers: one that is in no pod and in no other container's network is a task of its own. */
import { type Problem, type TaskInput, updatePolicy } from "../../engine/spec/index.ts";
import { mountsOf } from "../compose/mounts.ts";
import { dnsOf, networkOf } from "../compose/networks.ts";
import { engineName, type Place, type ServicePlace } from "../compose/place.ts";
import { portsOf } from "../compose/ports.ts";
import type { ComposeInput, ServiceInput } from "../compose/schema.ts";
import { taskOf } from "../compose/service.ts";
import type { Needs } from "./dependencies.ts";
import type { Draft } from "./draft.ts";
import { checksIn, isInstalled, isOneShot, privateUsersIn, restartIn } from "./tasks.ts";
import type { Unit } from "./unit.ts";

export interface ProjectOptions {
  /** Absolute: relative paths are below it. */
  readonly directory: string;
  /** Prefix for image names without a registry. Absent: docker.io. */
  readonly images?: string | undefined;
  /** Whether what depends on this host may be missing: then it is told of, and is no error. */
  readonly mayLack?: boolean | undefined;
  /** @throws the error of open(2) or read(2) */
  readonly readFile: (path: string) => Buffer;
}

/** A container, or a pod without its containers. */
export interface Member {
  readonly draft: Draft;
  readonly needs: Needs;
  /** The pod that it is in, or the container whose network it is in. */
  readonly pod: Unit | undefined;
  /** Further names in its networks. */
  readonly names: readonly string[];
}

export function memberOf(draft: Draft, needs: Needs, { pod, names }: Pick<Member, "pod" | "names">): Member {
  return { draft, needs, pod, names };
}

export interface Scene extends ProjectOptions {
  readonly project: ComposeInput;
  readonly tell: (problem: Problem) => void;
  readonly warn: (problem: Problem) => void;
}

/** A task, with the services that its containers are of, and the one that has its network. */
export type Tasks = readonly { readonly keys: readonly string[]; readonly owner: string; readonly input: TaskInput }[];

type Container = TaskInput["containers"][number];

export function tasksOf(members: readonly Member[], scene: Scene): Tasks {
  const byUnit = new Map(members.map((member) => [member.draft.unit, member]));
  const ownerOf = (member: Member): Member => {
    const seen = new Set([member]);
    let owner = member;
    for (let next = owner.pod; next !== undefined; next = owner.pod) {
      const found = byUnit.get(next)!;
      if (seen.has(found)) {
        scene.tell({
          code: "dependency-cycle",
          message: "leads back to the container itself",
          path: ["services", keyIn(member), "network_mode"],
        });
        return member;
      }
      seen.add(found);
      owner = found;
    }
    return owner;
  };
  const groups = new Map<Member, Member[]>();
  const owners = new Map<Member, Member>();
  for (const member of members) {
    const owner = ownerOf(member);
    owners.set(member, owner);
    const group = groups.get(owner) ?? groups.set(owner, []).get(owner)!;
    if (member === owner) group.unshift(member);
    else group.push(member);
  }
  const placesOf = (member: Member): Place[] => {
    const owner = owners.get(member)!;
    const task = engineName(nameIn(owner));
    const inner = member.draft.unit.kind === "pod" ? groups.get(member)!.filter((one) => one !== member) : [member];
    return inner.map((one) => ({ task, container: containerIn(one) }));
  };
  const all = new Makers(scene, byUnit, placesOf);
  return [...groups].flatMap(([owner, group]) => all.task(owner, group));
}

function keyIn({ draft: { unit } }: Member): string {
  return `${unit.base.replaceAll("@", "-")}.${unit.kind}`;
}

function nameIn({ draft: { unit } }: Member): string {
  return unit.base.replaceAll("@", "-");
}

function containerIn({ draft: { unit } }: Member): string {
  return unit.text("Container", "ContainerName")?.text ?? unit.base;
}

class Makers {
  readonly #scene: Scene;
  readonly #members: ReadonlyMap<Unit, Member>;
  readonly #placesOf: (member: Member) => Place[];

  constructor(scene: Scene, members: ReadonlyMap<Unit, Member>, placesOf: (member: Member) => Place[]) {
    this.#scene = scene;
    this.#members = members;
    this.#placesOf = placesOf;
  }

  task(owner: Member, group: readonly Member[]): Tasks {
    const { unit } = owner.draft;
    const isPod = unit.kind === "pod";
    const containers = group.filter(({ draft }) => draft.unit.kind === "container");
    if (containers.length === 0) {
      unit.refuse("no file .container names it as its pod");
      return [];
    }
    const made = containers.map((member) => this.#container(member, owner));
    const base = isPod ? this.#pod(owner) : made[0]!;
    const users = privateUsersIn(unit, isPod ? "Pod" : "Container");
    const parts = isPod ? made.map((one) => withPod(one, base)) : made;
    const isOne = containers.length === 1 && !isPod;
    const input: TaskInput = {
      ...base,
      ...(isOne ? {} : joinedParts(parts, containers.map(keyIn), isPod ? (base.volumes ?? []) : [])),
      namespaces: namespacesOf(base, isOne ? undefined : containers),
      ...(users ? { privateUsers: true as const } : {}),
      ...(isUpdated(parts, containers) ? { update: {} } : {}),
      start: [owner, ...containers].some(({ draft }) => isInstalled(draft.unit)) ? "always" : "once",
    };
    return [{ keys: containers.map(keyIn), owner: keyIn(owner), input }];
  }

  #container(member: Member, owner: Member): TaskInput {
    const { unit } = member.draft;
    const key = keyIn(member);
    const { project } = this.#scene;
    const task = engineName(nameIn(owner));
    const input = taskOf(project.services[key]!, project, {
      ...this.#place(key),
      task,
      container: containerIn(member),
      names: [...member.names],
      replica: { of: task, index: 1 },
    });
    const [container] = input.containers;
    const restart = restartIn(unit);
    return {
      ...input,
      containers: [
        {
          ...container!,
          ...checksIn(unit, container!.healthCheck),
          ...(restart === undefined ? {} : { restart }),
          dependsOn: this.#dependencies(member, owner, task),
        },
      ],
    };
  }

  /** What a pod starts after, all its containers start after. */
  #dependencies(member: Member, owner: Member, task: string): NonNullable<Container["dependsOn"]> {
    const needs = new Map([...(owner.draft.unit.kind === "pod" ? owner.needs : []), ...member.needs]);
    // The container whose network it is has started before.
    const isJoined = owner !== member && owner.draft.unit.kind === "container";
    const first = isJoined && !needs.has(owner.draft.unit) ? [{ container: containerIn(owner), condition: "START" as const }] : [];
    return [
      ...first,
      ...[...needs].flatMap(([unit, { isBound }]) => {
        const needed = this.#members.get(unit);
        if (needed === undefined || needed === owner) return needed === owner && isJoined ? [conditionOf(owner, containerIn(owner))] : [];
        return this.#placesOf(needed)
          .filter(({ task: of, container }) => of !== task || container !== containerIn(member))
          .map((place) => {
            const found = [...this.#members.values()].find(
              (one) => one.draft.unit.kind === "container" && (one === needed || one.pod === unit) && containerIn(one) === place.container,
            );
            const { condition } = conditionOf(found ?? needed, place.container);
            if (place.task === task) return { container: place.container, condition };
            return { container: `${place.task}/${place.container}`, condition, ...(isBound ? { restart: true } : {}) };
          });
      }),
    ];
  }

  /** Its network, and what all its containers get. */
  #pod({ draft: { unit }, names }: Member): TaskInput {
    const key = `${unit.base.replaceAll("@", "-")}.pod`;
    const { project } = this.#scene;
    const service = project.services[key]!;
    const place = this.#place(key);
    const { volumes, mounts } = mountsOf(service, project, place);
    const network = networkOf(service, project, { names: [...names], ports: portsOf(service, place) }, place);
    const dns = network === undefined ? dnsOf(service) : undefined;
    return {
      name: engineName(unit.base.replaceAll("@", "-")),
      containers: [containerOfPod(service, mounts)],
      ...(network === undefined ? {} : { network }),
      ...(dns === undefined ? {} : { dns }),
      namespaces: { network: service.network_mode === "host" ? "host" : network === undefined ? "shared" : "private" },
      volumes,
    };
  }

  #place(key: string): ServicePlace {
    const { directory, images, readFile, mayLack, tell, warn } = this.#scene;
    const problem = (message: string, at: Problem["path"]): Problem => ({ code: "combination", message, path: ["services", key, ...at] });
    const refuse = (message: string, at: Problem["path"]) => tell(problem(message, at));
    const lacks = (message: string, at: Problem["path"]) =>
      mayLack ? warn(problem(`${message}: here runtctl apply refuses it`, at)) : refuse(message, at);
    return {
      ...{ environment: {}, directory, images, readFile, refuse, lacks, built: undefined, isActive: () => true },
      containersOf: (service) => [{ task: service, container: service }],
      warn: (message, at) => warn(problem(message, at)),
      // As with podman: a directory that is missing is an error of the start.
      needs: () => {},
    };
  }
}

/** Only a task with `update` can return to the image that it had. A oneshot, which ends, would be one that has failed. */
function isUpdated(parts: readonly TaskInput[], containers: readonly Member[]): boolean {
  const asks = ({ annotations }: Container) => ["registry", "local"].includes(updatePolicy({ annotations: annotations ?? {} }) as string);
  return parts.some((part) => part.containers.some(asks)) && !containers.some(({ draft }) => isOneShot(draft.unit));
}

function conditionOf({ draft: { unit } }: Member, container: string) {
  const isHealthy = unit.text("Container", "Notify")?.text === "healthy";
  return { container, condition: isOneShot(unit) ? ("SUCCESS" as const) : isHealthy ? ("HEALTHY" as const) : ("START" as const) };
}

/** What a pod says of each of its containers. */
function containerOfPod(service: ServiceInput, mounts: NonNullable<Container["mounts"]>): Container {
  const labels = service.labels === undefined ? {} : { annotations: service.labels as Record<string, string> };
  const { hostname } = service;
  return { name: "pod", mounts, ...labels, ...(hostname === undefined ? {} : { hostname }) };
}

function withPod(input: TaskInput, { containers: [pod] }: TaskInput): TaskInput {
  const [container] = input.containers;
  const { mounts = [], annotations = {}, hostname } = pod!;
  const taken = new Set(container!.mounts?.map(({ target }) => target));
  const all = [...mounts.filter(({ target }) => !taken.has(target)), ...(container!.mounts ?? [])];
  return {
    ...input,
    containers: [
      {
        ...container!,
        mounts: all,
        annotations: { ...annotations, ...container!.annotations },
        ...(hostname === undefined ? {} : { hostname }),
      },
    ],
  };
}

/** The task goes on as long as one of its containers does. Each keeps its own volumes, under names that the task has once. */
function joinedParts(
  parts: readonly TaskInput[],
  keys: readonly string[],
  shared: NonNullable<TaskInput["volumes"]>,
): Pick<TaskInput, "containers" | "volumes" | "ends"> {
  const renamed = parts.map(({ containers: [container], volumes = [] }, at) => {
    const prefix = engineName(keys[at]!).slice(0, 40);
    const names = new Map(volumes.map(({ name }, index) => [name, `${prefix}-volume-${index}`]));
    const mounts = (container!.mounts ?? []).map((one) =>
      one.volume === undefined || !names.has(one.volume) ? one : { ...one, volume: names.get(one.volume)! },
    );
    return { container: { ...container!, mounts }, volumes: volumes.map((one) => ({ ...one, name: names.get(one.name)! })) };
  });
  return {
    containers: renamed.map(({ container }) => container) as TaskInput["containers"],
    volumes: [...shared, ...renamed.flatMap(({ volumes }) => volumes)],
    ends: "all",
  };
}

/** Containers of a pod share what they have of networks and messages. @param members undefined: the task has one container */
function namespacesOf({ namespaces = {}, network }: TaskInput, members: readonly Member[] | undefined): TaskInput["namespaces"] {
  if (members === undefined) return namespaces;
  const reaps = members.some(({ draft }) => draft.fields["init"] === true);
  return {
    ...namespaces,
    ...(reaps ? { pid: "shared" as const } : {}),
    ipc: "shared",
    ...(network === undefined && namespaces.network === "private" ? { network: "shared" as const } : {}),
  };
}
