/** JSON.parse, for a document of which it is certain that the exact parser would say the same, and much quicker. */
import { type JsonValue, MAX_DEPTH } from "./json.ts";

/** At its beginning a number that a double may round, or whose form may be reported. */
const DOUBTFUL_NUMBER = /^\s*-?(?:\d{16}|\d+(?:\.|[eE]))/;
/** The same in a list; in a string it is the same to us. */
const DOUBTFUL_ITEM = /[[,]\s*-?(?:\d{16}|\d+(?:\.|[eE]))/;
const [QUOTE, NINE] = [0x22, 0x39];
/** The end of a field's name. In a string, where it may stand too, its quotation mark is escaped. */
const NAME_END = /"\s*:/;
/** As nearly everybody writes it: to cut a text at these takes a tenth of the time. */
const USUAL_NAME_END = '":';
/** JSON.parse of QuickJS takes some escapes of JavaScript's: x41, or a single quotation mark. */
const OTHER_ESCAPE = /\\[^"\\/bfnrtu]/;
const UNUSUAL = [" :", "\t:", "\n:", "\r:"];

/**
 * The value; undefined: it is not JSON, or has members of one name, or numbers to look at more closely, or is nested too deep, or it cannot be told
 * so quickly.
 */
export function parsePlain(text: string): JsonValue | undefined {
  if (text.includes("\\") && OTHER_ESCAPE.test(text)) return undefined;
  let value: JsonValue;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  // Of two members with one name the value has one.
  const isUsual = !UNUSUAL.some((end) => text.includes(end));
  const behindNames = text.split(isUsual ? USUAL_NAME_END : NAME_END);
  const members: Members = { count: 0, inLists: false };
  if (!countMembers(value, 1, members) || members.count !== behindNames.length - 1) return undefined;
  if (behindNames.some(beginsDoubtful) || (members.inLists && DOUBTFUL_ITEM.test(text))) return undefined;
  return value;
}

/** Most values are texts, and are told by one character: a pattern takes ten times as long. */
function beginsDoubtful(text: string): boolean {
  const first = text.charCodeAt(0);
  const shown = first <= 0x20 ? text.charCodeAt(1) : first;
  return shown !== QUOTE && shown >= 0 && shown <= NINE && DOUBTFUL_NUMBER.test(text);
}

interface Members {
  /** Of all objects. */
  count: number;
  /** A list has a number in it. */
  inLists: boolean;
}

/** false: it is nested too deep. */
function countMembers(value: JsonValue, depth: number, members: Members): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (depth > MAX_DEPTH) return false;
  if (Array.isArray(value)) {
    for (const item of value) {
      if (typeof item === "number") members.inLists = true;
      else if (typeof item === "object" && !countMembers(item, depth + 1, members)) return false;
    }
    return true;
  }
  for (const name in value) {
    members.count++;
    const member = value[name];
    if (typeof member === "object" && !countMembers(member, depth + 1, members)) return false;
  }
  return true;
}
