/** The facts about a task from which the status of its pod is computed. */
import type { TaskDetail, TaskView } from "../../engine/index.ts";
import { type Member, membersOf } from "../manifest/members.ts";
import { DOCUMENT } from "../manifest/pod.ts";
import { type PodInput, pod as podSchema } from "../schema/pod.ts";

export interface TaskFacts {
  readonly task: TaskView;
  readonly detail: TaskDetail;
  /** Addresses of the host. The first is used for pods in the host's network. */
  readonly hostAddresses: readonly string[];
}

/** One container of the pod's document, with the engine's view of it. */
export interface ContainerFacts extends Member {
  readonly view: TaskView["containers"][number];
  readonly detail: TaskDetail["containers"][number];
}

export interface PodFacts extends TaskFacts {
  readonly pod: PodInput;
  /** The pod as its author wrote it, without null fields. */
  readonly document: Readonly<Record<string, unknown>>;
  readonly containers: readonly ContainerFacts[];
}

/** undefined: the task was not made from a pod, or the caller may not see the document. */
export function podFacts({ task, detail, hostAddresses }: TaskFacts): PodFacts | undefined {
  // The document of a schedule is the template of the pods of its runs.
  if (detail.spec["schedule"] !== undefined) return undefined;
  const text = (detail.spec["annotations"] as Readonly<Record<string, string | null>> | undefined)?.[DOCUMENT];
  if (typeof text !== "string") return undefined;
  const document = parsed(text);
  const read = podSchema.safeParse(document);
  if (!read.success) return undefined;
  const containers = membersOf(read.data).flatMap((member) => {
    const view = task.containers.find(({ name, type }) => type === "normal" && name === member.container.name);
    const own = detail.containers.find(({ name }) => name === member.container.name);
    return view === undefined || own === undefined ? [] : [{ ...member, view, detail: own }];
  });
  return { task, detail, hostAddresses, pod: read.data, document: document as PodFacts["document"], containers };
}

/** undefined: the text is no JSON. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}
