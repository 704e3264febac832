/** What differs between two sets of settings. Pure. */
import type { Effective, Worded } from "./effective.ts";

export interface Difference {
  readonly setting: string;
  /** undefined: it is not there. */
  readonly before?: string;
  readonly after?: string;
  /** Of a setting with words (the options of a mount) that both have: "+WORD" is new, "-WORD" is gone. */
  readonly words?: readonly string[];
}

/** Sorted by name. */
export function differences(before: Effective, after: Effective): Difference[] {
  return [...new Set([...before.keys(), ...after.keys()])].sort().flatMap((name) => {
    const [one, other] = [before.get(name), after.get(name)];
    const [was, is] = [textOf(one), textOf(other)];
    if (was === is) return [];
    const words = changedWords(wordsOf(one), wordsOf(other));
    return {
      setting: name,
      ...(was !== undefined && { before: was }),
      ...(is !== undefined && { after: is }),
      ...(words.length > 0 && { words }),
    };
  });
}

function textOf(value: string | Worded | undefined): string | undefined {
  if (value === undefined || typeof value === "string") return value;
  return value.words.length === 0 ? value.text : `${value.text} (${value.words.join(", ")})`;
}

function wordsOf(value: string | Worded | undefined): readonly string[] | undefined {
  return typeof value === "object" ? value.words : undefined;
}

function changedWords(before: readonly string[] | undefined, after: readonly string[] | undefined): string[] {
  if (before === undefined || after === undefined) return [];
  return [
    ...after.filter((word) => !before.includes(word)).map((word) => `+${word}`),
    ...before.filter((word) => !after.includes(word)).map((word) => `-${word}`),
  ];
}
