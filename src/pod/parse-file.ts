/** The text of a file that is applied: tasks, or pods as Kubernetes writes them. */
import { type ParsedFile, readDocuments, tasksIn } from "../engine/spec/index.ts";
import { podsIn } from "./manifest/file.ts";
import type { PodHost } from "./manifest/translation.ts";

/** Pods are known by apiVersion or kind, which no task has. Every finding with line and column, as parseTasks. */
export function parseFile(text: string, host: PodHost): ParsedFile {
  const documents = readDocuments(text, "task");
  return documents.some(({ value }) => isObject(value)) ? podsIn(documents, host) : tasksIn(documents);
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && ("apiVersion" in value || "kind" in value);
}
