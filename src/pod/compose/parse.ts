/** Parses the text of a Compose file. */
import { readDocuments } from "../../engine/spec/index.ts";
import { type ComposeFile, type ComposeOptions, failed, tasksOfCompose } from "./file.ts";

/** Of a text that cannot be read as YAML. */
const LOOKS_SO = /^["']?services["']?:/m;

/** undefined: the text is no Compose file, because it has no `services`. As in Compose, the key "<<" merges another map. */
export function parseCompose(text: string, options: ComposeOptions): ComposeFile | undefined {
  const documents = readDocuments(text, "service", { merge: true });
  const [document] = documents;
  const value = document?.value;
  // What is wrong with the text of one is told as it is read here: without merges it could be another fault, or none.
  if (document !== undefined && document.findings.length > 0 && LOOKS_SO.test(text)) return failed(document.findings);
  if (document === undefined || typeof value !== "object" || value === null || !("services" in value)) return undefined;
  if (documents.length === 1) return tasksOfCompose(document, options);
  return failed([documents[1]!.place({ code: "shape", message: "a Compose file is one document", path: [] })]);
}
