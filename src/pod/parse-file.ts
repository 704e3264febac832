/** Parses a file for `apply`: tasks, or Kubernetes pods. */
import { type ParsedFile, readDocuments, tasksIn } from "../engine/spec/index.ts";
import { podsIn } from "./manifest/file.ts";
import type { PodHost } from "./manifest/translation.ts";

/** A document with `apiVersion` or `kind` is a pod; tasks have neither. Each finding has line and column, as with parseTasks. */
export function parseFile(text: string, host: PodHost): ParsedFile {
  const documents = readDocuments(text, "task");
  return documents.some(({ value }) => isObject(value)) ? podsIn(documents, host) : tasksIn(documents);
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && ("apiVersion" in value || "kind" in value);
}
