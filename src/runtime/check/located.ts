/** Findings with their places in the file, in the order of the file. */
import { type JsonValue, lookup } from "../spec/index.ts";
import type { Finding, Severity } from "./finding.ts";
import { suggest } from "./suggest.ts";
import { valueOffsets } from "./value-offsets.ts";

export interface LocatedFinding extends Finding {
  /** 1-based. Of the value, or of what should contain it. */
  readonly line: number;
  readonly column: number;
  /** What stands there: a scalar as JSON, shortened; undefined for what has parts, and where nothing stands. */
  readonly value?: string;
}

const LONGEST = 60;
/** Looking for close names takes time that a document full of mistakes does not deserve. */
const MOST_SUGGESTIONS = 200;
const LEVELS: readonly Severity[] = ["error", "warning", "advice"];

export interface Located {
  readonly findings: readonly LocatedFinding[];
  /** What nobody asked the place of. */
  readonly others: readonly Finding[];
}

/**
 * @param stages findings of what looks closer and closer: each leaves out what the ones before it have refused already
 * @param most so many of one code get their places: a place costs ten times what its finding does
 */
export function locate(
  text: string,
  places: Places,
  root: JsonValue | undefined,
  stages: readonly (readonly Finding[])[],
  most = Number.POSITIVE_INFINITY,
): Located {
  const { first, others } = firstOfEach(withoutRepeats(stages), most);
  return { findings: place(text, places, root, first), others };
}

/** In their order. */
function firstOfEach(found: readonly Finding[], most: number): { readonly first: readonly Finding[]; readonly others: readonly Finding[] } {
  if (found.length <= most) return { first: found, others: [] };
  const counts = new Map<string, number>();
  const [first, others]: [Finding[], Finding[]] = [[], []];
  for (const finding of found) {
    const count = counts.get(finding.code) ?? 0;
    counts.set(finding.code, count + 1);
    (count < most ? first : others).push(finding);
  }
  return { first, others };
}

function place(text: string, places: Places, root: JsonValue | undefined, found: readonly Finding[]): readonly LocatedFinding[] {
  if (found.length === 0) return [];
  const offsets = places.find(found.map(({ pointer }) => pointer));
  const lineColumn = lineFinder(text);
  const placed = found.map((finding, index) => {
    const value = root === undefined ? undefined : lookup(root, finding.pointer);
    const offset = offsets[index]!;
    const shown = shorten(value);
    return {
      offset,
      finding: {
        ...(index < MOST_SUGGESTIONS ? suggest(finding, value) : finding),
        ...lineColumn(offset),
        ...(shown !== undefined && { value: shown }),
      },
    };
  });
  // Most checks go through the document from its beginning.
  if (placed.some((_, index) => index > 0 && inFile(placed[index - 1]!, placed[index]!) > 0)) placed.sort(inFile);
  return placed.map(({ finding }) => finding);
}

interface Placed {
  readonly offset: number;
  readonly finding: LocatedFinding;
}

function inFile(a: Placed, b: Placed): number {
  return a.offset - b.offset || LEVELS.indexOf(a.finding.severity) - LEVELS.indexOf(b.finding.severity);
}

function shorten(value: JsonValue | undefined): string | undefined {
  if (value === undefined || (typeof value === "object" && value !== null)) return undefined;
  const text = typeof value === "bigint" ? String(value) : JSON.stringify(typeof value === "string" ? value.slice(0, LONGEST) : value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text;
}

/** 1-based line and column of an offset, for many offsets in one text. */
function lineFinder(text: string): (offset: number) => { readonly line: number; readonly column: number } {
  const starts = [0];
  for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", end + 1)) starts.push(end + 1);
  return (offset) => {
    let [low, high] = [0, starts.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (starts[middle]! <= offset) low = middle;
      else high = middle;
    }
    return { line: low + 1, column: offset - starts[low]! + 1 };
  };
}

/** A pointer and those of everything it is in, without that of the whole document. */
function* ancestors(pointer: string): Generator<string> {
  for (let at = pointer; at !== ""; at = at.slice(0, at.lastIndexOf("/"))) yield at;
}

/** The same code at the same place once, and of one mistake only what was said first and about the smallest part. */
function withoutRepeats(stages: readonly (readonly Finding[])[]): readonly Finding[] {
  const kept: Finding[] = [];
  const seen = new Set<string>();
  /** Pointers of errors of earlier stages; these and everything around them; codes of earlier stages with everything around them. */
  const [refused, around, said] = [new Set<string>(), new Set<string>(), new Set<string>()];
  stages.forEach((stage, number) => {
    const first = kept.length;
    for (const finding of stage) {
      const { code, pointer, severity } = finding;
      const key = `${code} ${pointer}`;
      const general = severity === "error" && SECOND_HAND.has(code) && [...ancestors(pointer)].some((at) => refused.has(at));
      if (seen.has(key) || around.has(pointer) || said.has(key) || general) continue;
      seen.add(key);
      kept.push(finding);
    }
    if (stages.slice(number + 1).every((later) => later.length === 0)) return;
    for (const { code, pointer, severity } of kept.slice(first)) {
      if (severity === "error") refused.add(pointer);
      for (const at of ancestors(pointer)) {
        said.add(`${code} ${at}`);
        if (severity === "error") around.add(at);
      }
    }
  });
  return kept;
}

/** Codes that only say of a part what was said of the whole. */
const SECOND_HAND: ReadonlySet<string> = new Set(["mount-idmap", "cgroup-value", "cgroup-field", "config-invalid"]);

export interface Places {
  /** Offsets in the text of the values at these pointers, in their order; of one that is not there, that of what should contain it. */
  find(pointers: readonly string[]): readonly number[];
}

/**
 * Where the values of a document stand in its text. Only findings need that, and only few places, so
 * the text is read again for them. Everything stands there: a document that cannot be read.
 */
export function onePlace(offset: number): Places {
  return { find: (pointers) => pointers.map(() => offset) };
}

/** In a document that has no two members of one name. */
export function placesInPlain(text: string): Places {
  return { find: (pointers) => valueOffsets(text, pointers, true) };
}

/** @param trailing where data behind the document begins, which stands for all of it */
export function placesIn(text: string, trailing?: number): Places {
  return {
    find(pointers) {
      const offsets = valueOffsets(text, pointers);
      return trailing === undefined ? offsets : offsets.map((offset, index) => (pointers[index] === "" ? trailing : offset));
    },
  };
}
