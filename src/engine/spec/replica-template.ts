/** What further replicas of a service are made of: a task in which placeholders stand for what depends on its index. Pure. */
import { createHash } from "node:crypto";
import { checkTask } from "./check/task.ts";
import { replicaOf } from "./replica.ts";
import { type TaskInput, type TaskSpec, task } from "./schema/task.ts";
import { shapeProblems } from "./shape.ts";

/** Annotation of the first replica of a service, as JSON. The programs that make the tasks of a file write it. */
const TEMPLATE = "runt.dev/replica";

export interface ReplicaTemplate {
  readonly task: TaskInput;
  /** Text in the task that stands for the index. */
  readonly index: string;
  /** Text in the task that stands for the index of the replica before. Absent: there is none. */
  readonly before?: string;
  /** `value` stands for the UUID of the text `of`, which contains the placeholder of the index. Absent: there is none. */
  readonly uuid?: { readonly value: string; readonly of: string };
}

/** refused: why the service cannot have more replicas than its file says. */
type Written = ReplicaTemplate | { readonly refused: string };

/** A placeholder that no other text contains. @param of differs between the placeholders of a task */
export function placeholder(of: string): string {
  return `x${createHash("sha256").update(of).digest("hex").slice(0, 7)}`;
}

/** A UUID of version 8 (RFC 9562): all bits except version and variant are free. */
export function uuidOf(text: string): string {
  const hex = createHash("sha256").update(text).digest("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join("-");
}

export function withTemplate<T extends { readonly annotations?: Readonly<Record<string, string>> | undefined }>(
  first: T,
  written: Written,
): T {
  return { ...first, annotations: { ...first.annotations, [TEMPLATE]: JSON.stringify(written) } };
}

/** The replica with this index, in the form in which the file would give it; a text: why there can be none. */
export function replicaFrom(first: TaskSpec, index: number): TaskSpec | string {
  const text = first.annotations?.[TEMPLATE];
  const written = text === undefined ? undefined : writtenIn(text);
  if (written === undefined) return "its file names each of its tasks: apply the file with more of them";
  if ("refused" in written) return written.refused;
  const parsed = task.safeParse(filled(written, index));
  const problem = parsed.success ? checkTask(parsed.data)[0] : shapeProblems(parsed.error)[0];
  if (!parsed.success || problem !== undefined) return `replica ${index} is not possible: ${problem?.message}`;
  const { update, rollback } = first;
  return {
    ...parsed.data,
    update,
    ...(rollback === undefined ? {} : { rollback }),
    replica: { of: replicaOf(first)!.service, index },
  };
}

function filled({ task: input, index: own, before, uuid }: ReplicaTemplate, index: number): unknown {
  let text = JSON.stringify(input);
  if (uuid !== undefined) text = text.replaceAll(uuid.value, uuidOf(uuid.of.replaceAll(own, String(index))));
  text = text.replaceAll(own, String(index));
  return JSON.parse(before === undefined ? text : text.replaceAll(before, String(index - 1)));
}

/** undefined: the annotation was written by somebody else. */
function writtenIn(text: string): Written | undefined {
  try {
    const value = JSON.parse(text) as Partial<ReplicaTemplate & { refused: string }>;
    if (typeof value.refused === "string") return { refused: value.refused };
    const { task: input, index, before, uuid } = value;
    const isText = (one: unknown) => typeof one === "string" && one !== "";
    const isWhole = typeof input === "object" && input !== null && isText(index) && (before === undefined || isText(before));
    const hasUuid = uuid === undefined || (isText(uuid?.value) && isText(uuid?.of));
    return isWhole && hasUuid ? (value as ReplicaTemplate) : undefined;
  } catch {
    return undefined;
  }
}
