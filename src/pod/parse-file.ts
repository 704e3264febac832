/** Parses a file for `apply`, which contains pools, and either tasks or Kubernetes objects. */
import { isPool, type ParsedFile, type ReadDocument, readDocuments, tasksIn, withPools } from "../engine/spec/index.ts";
import { podsIn } from "./manifest/file.ts";
import type { PodHost } from "./manifest/translation.ts";

/** Findings have line and column, like those of parseTasks. */
export function parseFile(text: string, host: PodHost): ParsedFile {
  const documents = readDocuments(text, "task", { merge: true, repeats: true });
  return withPools(
    documents.map((one) => (isObject(one.value) && !isPool(one) ? asKubectl(one) : strict(one))),
    (others) => tasksOrPods(others, host),
  );
}

/** Of a key that occurs twice kubectl takes the last value, and says nothing. Source: sigs.k8s.io/yaml, YAMLToJSON. */
function asKubectl({ repeated = [], ...document }: ReadDocument): ReadDocument {
  return { ...document, repeated: repeated.map((one) => ({ ...one, message: `${one.message}: the last value counts` })) };
}

/** A task or pool in which a key occurs twice is refused. */
function strict({ repeated = [], ...document }: ReadDocument): ReadDocument {
  return repeated.length === 0 ? document : { ...document, value: undefined, findings: [...document.findings, ...repeated] };
}

/** A document with `apiVersion` or `kind` is a Kubernetes object, because tasks have neither. */
function tasksOrPods(documents: readonly ReadDocument[], host: PodHost): ParsedFile {
  if (!documents.some(({ value }) => isObject(value))) return tasksIn(documents, host.machines);
  // Empty documents are ignored, as in kubectl: programs that write files put "---" before or after each document.
  return podsIn(
    documents.filter(({ value, findings }) => value !== null || findings.length > 0),
    host,
  );
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && ("apiVersion" in value || "kind" in value);
}
