/** The name of an object that gives only the beginning of one. */
import { createHash } from "node:crypto";

/** No vowels, and no digits that look like letters. Source: Kubernetes, util/rand. */
const LETTERS = "bcdfghjklmnpqrstvwxz2456789";
const LENGTH = 5;
/** Source: Kubernetes, names.SimpleNameGenerator. */
const LONGEST_BEGINNING = 63 - LENGTH;

interface Written {
  readonly metadata?: { readonly name?: unknown; readonly generateName?: unknown };
}

/**
 * With a name that `generateName` begins. The end depends on what the object says, and not on chance as in a cluster: an apply of the same file finds the same object.
 * @param earlier objects of the file that say the same; each has another name
 */
export function withGeneratedName(written: unknown, earlier: Map<string, number>): unknown {
  const { metadata } = (typeof written === "object" && written !== null ? written : {}) as Written;
  const { name, generateName: begin } = typeof metadata === "object" && metadata !== null ? metadata : {};
  if (name !== undefined || typeof begin !== "string" || begin === "") return written;
  const text = JSON.stringify(written);
  const count = earlier.get(text) ?? 0;
  earlier.set(text, count + 1);
  // The client has no other form of it (src/runtctl/platform/crypto.ts).
  const hex = createHash("sha256").update(`${count} ${text}`).digest("hex");
  const bytes = Array.from({ length: LENGTH }, (_, at) => Number.parseInt(hex.slice(2 * at, 2 * at + 2), 16));
  const end = bytes.map((byte) => LETTERS[byte % LETTERS.length]!).join("");
  return { ...(written as Written), metadata: { ...metadata, name: `${begin.slice(0, LONGEST_BEGINNING)}${end}` } };
}
