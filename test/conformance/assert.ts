/** node:assert, but a bare `ok` says its line: the text that Node would show costs seconds behind a loader. */
import assert from "node:assert/strict";

export function ok(value: unknown, message?: string): asserts value {
  if (value) return;
  const line = /items\/[\w-]+\.ts:\d+/.exec(new Error().stack ?? "")?.[0];
  assert.fail(message ?? `does not hold: ${line ?? "?"}`);
}

// Assertion functions need their types written out.
export const equal: typeof assert.equal = assert.equal;
export const notEqual: typeof assert.notEqual = assert.notEqual;
export const deepEqual: typeof assert.deepEqual = assert.deepEqual;
export const match: typeof assert.match = assert.match;
export const doesNotMatch: typeof assert.doesNotMatch = assert.doesNotMatch;
export const fail: typeof assert.fail = assert.fail;
export const rejects: typeof assert.rejects = assert.rejects;
