/** Parses the texts of a Compose project. */
import { type ComposeFile, failed, tasksOfCompose } from "./file.ts";
import { type ComposeText, Loading } from "./load.ts";
import type { ComposeOptions } from "./model.ts";

/**
 * Returns undefined if the text is no Compose file, because it has neither `services` nor `include`. As in Compose, the key "<<" merges another
 * map.
 * @param others files that are merged with it, in this order
 */
export function parseCompose(text: string, options: ComposeOptions, others: readonly ComposeText[] = []): ComposeFile | undefined {
  const loading = new Loading();
  const value = loading.load([{ text }, ...others], options);
  if (loading.syntax.length > 0) return others.length > 0 || MAY_BE.test(text) ? failed(loading.syntax) : undefined;
  if (!loading.isCompose) return undefined;
  return tasksOfCompose(
    { value, problems: loading.problems, warnings: loading.warnings, place: (problem) => loading.place(problem) },
    options,
  );
}

/** Recognises a Compose file with a syntax error by a key at the beginning of a line. */
const MAY_BE = /^["']?(?:services|include)["']?\s*:/m;
