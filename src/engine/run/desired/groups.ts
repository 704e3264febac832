/** Finds tasks that depend on each other: those of a group in which a container depends on a container of another task. */
import { type DecisionContext, sharesProxy, type TaskRecord } from "../../model/index.ts";
import { dependenciesOf } from "../../spec/index.ts";

type Neighbours = Pick<DecisionContext, "peers" | "replaced">;

const NONE: Neighbours = { peers: [], replaced: [] };

/** Whether a dependency of the task has the form TASK/CONTAINER. */
function waitsForPeers({ spec }: TaskRecord): boolean {
  return spec.containers.some((one) => dependenciesOf(one).some(({ container }) => container.includes("/")));
}

/** The groups of one turn. They are computed once, so that a turn with a thousand independent tasks takes linear time. */
export class Groups {
  readonly #ids = new Map<string, Set<string>>();
  readonly #linked = new Set<string>();
  readonly #sharing = new Set<string>();

  constructor(records: Iterable<TaskRecord>) {
    for (const record of records) this.add(record);
  }

  add(record: TaskRecord): void {
    const ids = this.#ids.get(record.group) ?? new Set();
    this.#ids.set(record.group, ids.add(record.id));
    if (waitsForPeers(record)) this.#linked.add(record.group);
    if (sharesProxy(record)) this.#sharing.add(record.group);
  }

  isLinked(group: string): boolean {
    return this.#linked.has(group);
  }

  /** Whether tasks of the group use a shared proxy. */
  sharesProxy(group: string): boolean {
    return this.#sharing.has(group);
  }

  /** Ids of the tasks of a group, in the order in which they were applied. */
  idsOf(group: string): readonly string[] {
    return [...(this.#ids.get(group) ?? [])];
  }

  neighbours(record: TaskRecord, get: (id: string) => TaskRecord | undefined): Neighbours {
    if (!this.isLinked(record.group)) return NONE;
    const others = this.idsOf(record.group).flatMap((id) => (id === record.id ? [] : (get(id) ?? [])));
    const newest = new Map(others.map((one) => [one.name, one]));
    return { peers: [...newest.values()], replaced: others.filter((one) => newest.get(one.name) !== one) };
  }
}
