/** Parses the text of a Compose file. */
import { readDocuments } from "../../engine/spec/index.ts";
import { type ComposeFile, type ComposeOptions, failed, tasksOfCompose } from "./file.ts";

/** undefined: the text is no Compose file, because it has no `services`. As in Compose, the key "<<" merges another map. */
export function parseCompose(text: string, options: ComposeOptions): ComposeFile | undefined {
  const documents = readDocuments(text, "service", { merge: true });
  const [document] = documents;
  const value = document?.value;
  if (document === undefined || typeof value !== "object" || value === null || !("services" in value)) return undefined;
  if (documents.length === 1) return tasksOfCompose(document, options);
  return failed([documents[1]!.place({ code: "shape", message: "a Compose file is one document", path: [] })]);
}
