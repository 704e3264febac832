/**
 * The text of a file of tasks -> TaskSpecs, or every finding with line and column. YAML or JSON; each document of the file is one task, and all of them
 * are one group.
 */
import { checkGroup } from "./check/group.ts";
import { checkTask } from "./check/task.ts";
import { MOST_FINDINGS, type ReadDocument, readDocuments } from "./documents.ts";
import type { Finding } from "./finding.ts";
import { type TaskSpec, task } from "./schema/task.ts";
import { shapeProblems } from "./shape.ts";

export interface ParsedFile {
  /** Empty when there are findings. */
  readonly tasks: readonly TaskSpec[];
  readonly findings: readonly Finding[];
}

/** Reads nothing but `text`. Every finding of the file is there, up to 1000, in the order of its lines. */
export function parseTasks(text: string): ParsedFile {
  return tasksIn(readDocuments(text, "task"));
}

/** The same, of what has been read. */
export function tasksIn(documents: readonly ReadDocument[]): ParsedFile {
  const read = documents.map(readTask);
  const findings = read.flatMap((one) => one.findings);
  const tasks = read.flatMap((one) => (one.task === undefined ? [] : [one.task]));
  if (tasks.length === documents.length) {
    for (const { task: index, ...problem } of checkGroup(tasks)) findings.push(documents[index]!.place(problem));
  }
  return parsedFile(tasks, findings);
}

/** All of a file or nothing: findings in the order of its lines, and no more than anybody reads. */
export function parsedFile(tasks: readonly TaskSpec[], found: readonly Finding[]): ParsedFile {
  const findings = found.slice(0, MOST_FINDINGS).sort((a, b) => a.line - b.line || a.column - b.column);
  return { tasks: findings.length === 0 ? tasks : [], findings };
}

function readTask({ value, findings, place }: ReadDocument): { task?: TaskSpec; findings: Finding[] } {
  if (findings.length > 0) return { findings: [...findings] };
  const parsed = task.safeParse(value);
  const problems = parsed.success ? checkTask(parsed.data) : shapeProblems(parsed.error);
  const found = problems.slice(0, MOST_FINDINGS).map(place);
  return parsed.success ? { task: parsed.data, findings: found } : { findings: found };
}
