/** What the documentation says of one file. Written before the project was asked. */
import type { Place, Quote } from "./sources.ts";

export interface Case {
  /** Of this directory, for own files; of its repository otherwise. */
  readonly file: string;
  readonly source?: Place["source"];
  /** In a Go file: the texts that these variables have, as the documents of one file. */
  readonly variables?: readonly string[];
  /** Compose only: the environment of whoever applies it, and what is switched on. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly profiles?: readonly string[];
  readonly says: readonly Quote[];
  /** What its tasks have, in order. Fields that are not here are not looked at. */
  readonly tasks?: readonly object[];
  /** Otherwise: where it is refused, "LINE:COLUMN POINTER", all of it and in order. */
  readonly refused?: readonly string[];
}

const SINGLE_NAMES = /` \+ [A-Z_]+ \+ `/g;

/** The raw string of `var NAME = ...` in a Go file. Names of images that are put together are the same one. @throws Error: there is none */
export function rawString(text: string, name: string): string {
  const joined = text.replaceAll(SINGLE_NAMES, "corpus:1");
  const [, found] = new RegExp(`^var ${name} = \`([^\`]*)\``, "m").exec(joined) ?? [];
  if (found === undefined) throw new Error(`there is no raw string ${name}`);
  return found;
}

export function titleOf({ source, file, variables = [] }: Case): string {
  return [source ?? "own", file, ...variables].join(" ");
}
