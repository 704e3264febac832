/** From the text of config.json to every finding that the text itself gives: syntax, structure, and the checks over what is sound. */
import { destinationsInRoot } from "../config/index.ts";
import { RuntError } from "../errors/index.ts";
import {
  completePageSize,
  findStructure,
  flatCapabilities,
  type JsonValue,
  lookup,
  parseJson,
  parsePlain,
  pointerToken,
  type Spec,
  type StrangeName,
  type Structure,
} from "../spec/index.ts";
import { SPEC_CHECKS } from "./advice.ts";
import { CHECKS } from "./checks.ts";
import { otherDocument } from "./document/versions.ts";
import { type CheckFacts, type Finding, type Report, reportInto } from "./finding.ts";
import { onePlace, type Places, placesIn, placesInPlain } from "./located.ts";
import { soundParts } from "./sound.ts";

export interface Examination {
  readonly findings: Finding[];
  readonly places: Places;
  /** Parts of the configuration cannot be looked at. */
  readonly broken: boolean;
  /** The document as it stands; undefined when it could not be parsed. */
  readonly value?: JsonValue;
  /** What the checks of the host may look at; it throws where it is broken. */
  readonly spec?: Spec;
}

/**
 * @param facts of the caller; `rootless` alone needs no host
 * @param bundle where a relative root starts; undefined: there is none
 */
export function examine(text: string, facts: CheckFacts = {}, bundle?: string): Examination {
  const findings: Finding[] = [];
  const report = reportInto(findings);
  const parsed = parse(text, report);
  const { places, value } = parsed;
  if (value === undefined) return { findings, places, broken: true };
  const other = otherDocument(value);
  if (other) {
    report.error("document-kind", "", `this is ${other.what}, not an OCI runtime configuration`, other.remedy);
    return { findings, places, broken: true, value };
  }
  const { spec: written, broken } = examineStructure(value, text, parsed.isPlain ? undefined : places, report);
  const moved = written && !broken && bundle !== undefined ? destinationsInRoot(written, bundle) : undefined;
  for (const { code, pointer, message } of moved?.warnings ?? []) report.warning(code, pointer, message);
  const spec = moved?.spec ?? written;
  if (spec !== undefined) runChecks([...CHECKS, ...SPEC_CHECKS], (check) => check(spec, report, facts), findings, broken);
  return { findings, places, broken, value, ...(spec && { spec }) };
}

/**
 * Run each.
 * @param broken parts are missing: a check that stumbles over one has said nothing. Otherwise stumbling is a defect of the check.
 */
export function runChecks<T>(checks: readonly T[], run: (check: T) => void, findings: Finding[], broken: boolean): void {
  for (const check of checks) {
    const { length } = findings;
    try {
      run(check);
    } catch (error) {
      // BrokenPart, or TypeError: a hole in a list is met as undefined.
      if (!broken) throw error;
      findings.length = length;
    }
  }
}

interface Parsed {
  readonly value?: JsonValue;
  readonly places: Places;
  /** It has no number whose form is to be looked at. */
  readonly isPlain?: true;
}

function parse(text: string, report: Report): Parsed {
  if (text.charCodeAt(0) === 0xfeff) report.warning("byte-order-mark", "", "the file begins with a byte order mark");
  const plain = parsePlain(text);
  if (plain !== undefined) return { value: plain, places: placesInPlain(text), isPlain: true };
  const duplicates: string[] = [];
  let trailing: number | undefined;
  let value: JsonValue;
  try {
    value = parseJson(text, { duplicates, trailing: (offset) => (trailing = offset) });
  } catch (error) {
    if (!(error instanceof RuntError)) throw error;
    const { line = 1, column = 1, hint } = error.details;
    report.error("config-syntax", "", error.message.replace(/^[^:]*:\d+:\d+: /, ""), hint);
    return { places: onePlace(offsetOf(text, line, column)) };
  }
  if (trailing !== undefined) report.error("trailing-data", "", "there is more behind the end of the document");
  for (const pointer of new Set(duplicates))
    report.warning("field-duplicate", pointer, `${pointer.slice(pointer.lastIndexOf("/") + 1)} is given more than once, the last one wins`);
  return { value, places: placesIn(text, trailing) };
}

function offsetOf(text: string, line: number, column: number): number {
  let start = 0;
  for (let left = line; left > 1; left--) start = text.indexOf("\n", start) + 1;
  return start + column - 1;
}

function examineStructure(
  value: JsonValue,
  text: string,
  places: Places | undefined,
  report: Report,
): { readonly spec: Spec | undefined; readonly broken: boolean } {
  const flat = flatCapabilities(value);
  const { taken, violations, strangers } = findUnsound(flat.value);
  if (flat.changed)
    report.warning("capabilities-list", "/process/capabilities", "a plain list is the form of before version 1.0, and fills all five sets");
  const codes = { type: "field-type", missing: "field-missing", range: "field-range" } as const;
  for (const { kind, pointer, reason } of violations) {
    // A list that was spread over five sets is wrong once, where it stands.
    if (flat.changed && /^\/process\/capabilities\/(?!bounding)/.test(pointer)) continue;
    report.error(codes[kind], flat.changed ? pointer.replace("/capabilities/bounding", "/capabilities") : pointer, reason);
  }
  // What is taken all the same is the business of a check.
  for (const stranger of strangers) if (!taken.includes(stranger.pointer)) reportStranger(stranger, report);
  if (places) reportNumbers(value, text, places, report);
  return { spec: soundParts(flat.value, violations), broken: violations.length > 0 };
}

/** As create takes it: what is completed is missing no more. `taken`: pointers to what it was completed by. */
function findUnsound(value: JsonValue): Structure & { readonly taken: readonly string[] } {
  const first = findStructure(value);
  const taken = first.violations
    .filter(({ kind, pointer }) => kind === "missing" && pointer.endsWith("/pageSize"))
    .map(({ pointer }) => pointer.slice(0, pointer.lastIndexOf("/")))
    .filter((entry) => completePageSize(lookup(value, entry)))
    .map((entry) => `${entry}/pagesize`);
  return { ...(taken.length === 0 ? first : findStructure(value)), taken };
}

function reportStranger({ pointer, name, inCase, close }: StrangeName, report: Report): void {
  if (inCase !== undefined) {
    report.warning(
      "field-case",
      pointer,
      `"${name}" is not "${inCase}" and has no effect; runtimes written in Go take it`,
      `write "${inCase}"`,
    );
    return;
  }
  const meant = close.length === 0 ? "" : close.length <= 3 ? `; did you mean ${close.join(" or ")}?` : `; known here: ${close.join(", ")}`;
  report.warning("field-unknown", pointer, `"${name}" is not a field of the specification and has no effect${meant}`);
}

/** An integer written as 1e3 or 10.0: this runtime takes it, decoders written in Go do not. */
function reportNumbers(value: JsonValue, text: string, places: Places, report: Report): void {
  if (!/\d[.eE]\d*/.test(text)) return;
  const integers: string[] = [];
  const look = (item: JsonValue, pointer: string): void => {
    if (typeof item === "number" && Number.isInteger(item)) integers.push(pointer);
    else if (typeof item === "object" && item !== null) {
      for (const [key, member] of Object.entries(item)) look(member, `${pointer}/${pointerToken(key)}`);
    }
  };
  look(value, "");
  const offsets = places.find(integers);
  for (const [index, pointer] of integers.entries()) {
    const offset = offsets[index]!;
    const written = /^-?[\d.eE+-]+/.exec(text.slice(offset, offset + 40))?.[0] ?? "";
    if (/[.eE]/.test(written)) report.advice("number-form", pointer, `${written} is an integer in a form that other runtimes refuse`);
  }
}
