/** Namespaces of other tasks that the containers of a task use. Their holder belongs to the other task; the executor checks that it still runs. */
import { specOf, type TaskRecord } from "../../model/index.ts";
import type { Incarnation } from "../../plan/index.ts";
import type { Paths } from "../paths.ts";
import { type Contribution, engineMount, type TaskResource } from "./resource.ts";

const SHARED_MEMORY = "/dev/shm";

export interface JoinedNamespacesOptions {
  readonly paths: Paths;
  readonly records: ReadonlyMap<string, TaskRecord>;
}

function isUp(known: TaskRecord["containers"][number]["known"]): boolean {
  return known === "RUNNING" || known === "RESOURCES_PROVISIONED";
}

export class JoinedNamespaces implements TaskResource {
  readonly name = "joined-namespaces";
  readonly #options: JoinedNamespacesOptions;

  constructor(options: JoinedNamespacesOptions) {
    this.#options = options;
  }

  /** @throws Error: the other task does not run; the message has its name */
  contribute(record: TaskRecord, { container }: Incarnation): Contribution {
    const { joins } = record.spec;
    const spec = specOf(record, container);
    if (joins === undefined || spec === undefined) return {};
    const named = Object.entries(joins).flatMap(([type, task]) =>
      task === undefined ? [] : [[type, this.#running(record, task)] as const],
    );
    const holders = Object.fromEntries(named.map(([type, { holder }]) => [type, holder]));
    const memory =
      joins.ipc === undefined || spec.mounts.some(({ target }) => target === SHARED_MEMORY)
        ? undefined
        : this.#memoryOf(this.#running(record, joins.ipc).record);
    return { holders, ...(memory === undefined ? {} : { mounts: [engineMount(SHARED_MEMORY, memory, "rw")] }) };
  }

  /** Of two tasks of this name the newer one counts, as for names in networks. */
  #running({ group }: TaskRecord, task: string): { readonly record: TaskRecord; readonly holder: string } {
    const found = [...this.#options.records.values()].toReversed().flatMap((record) => {
      if (record.group !== group || record.name !== task || record.desired !== "RUNNING") return [];
      const holder = record.containers.find(({ type, known }) => type === "namespacePause" && isUp(known));
      return holder === undefined ? [] : [{ record, holder: holder.runtimeId }];
    });
    if (found[0] === undefined) throw new Error(`task ${task}, whose namespaces it uses, does not run`);
    return found[0];
  }

  /** The directory that the other task has at /dev/shm; undefined: each of its containers has one of its own. */
  #memoryOf({ id, spec }: TaskRecord): string | undefined {
    const mount = spec.containers
      .flatMap(({ mounts }) => mounts)
      .find(({ target, volume }) => target === SHARED_MEMORY && volume !== undefined);
    const isScratch = spec.volumes.some(({ name, medium }) => name === mount?.volume && medium === "memory");
    return isScratch ? this.#options.paths.volume(id, mount!.volume!) : undefined;
  }
}
