/**
 * A configuration with broken parts, made safe to look at: the checks run on all the rest, and a check that asks for what is broken is
 * left out, because nothing could be said for sure.
 */
import type { JsonValue, Spec, Violation } from "../spec/index.ts";

/** A check came upon a part that is broken. */
export class BrokenPart extends Error {}

type Container = JsonValue[] | { [key: string]: JsonValue };

/**
 * A broken entry of a list becomes a hole, so that the others keep their numbers: forEach passes over it, and what must have seen
 * every entry stumbles. A broken field of an object throws BrokenPart when it is read. undefined: nothing is left.
 */
export function soundParts(root: JsonValue, violations: readonly Violation[]): Spec | undefined {
  const copy = violations.length === 0 ? root : deepCopy(root);
  for (const { pointer } of violations) {
    const tokens = pointer.split("/").slice(1);
    if (tokens.length === 0) return undefined;
    breakAt(copy, tokens);
  }
  return copy as unknown as Spec;
}

function deepCopy(value: JsonValue): JsonValue {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(deepCopy);
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, deepCopy(member)]));
}

/** The outermost list entry on the way is what breaks: half an entry says nothing. */
function breakAt(root: JsonValue, tokens: readonly string[]): void {
  let value = root;
  for (const [index, token] of tokens.entries()) {
    if (typeof value !== "object" || value === null) return;
    const key = token.replaceAll("~1", "/").replaceAll("~0", "~");
    if (Array.isArray(value)) {
      delete value[Number(key)];
      return;
    }
    const isLast = index === tokens.length - 1;
    // Broken already, by another violation in it.
    if (Object.getOwnPropertyDescriptor(value, key)?.get !== undefined) return;
    if (isLast) makeBroken(value, key);
    else value = value[key] ?? null;
  }
}

function makeBroken(object: Exclude<Container, JsonValue[]>, key: string): void {
  Object.defineProperty(object, key, {
    configurable: true,
    enumerable: true,
    get() {
      throw new BrokenPart(key);
    },
  });
}
