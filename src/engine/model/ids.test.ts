import fc from "fast-check";
import { expect, test } from "vitest";
import { isTaskId, runtimeId, taskId, taskIdOf } from "./ids.ts";

/** The ids that the executor accepts. */
const EXECUTOR_ID = /^[A-Za-z0-9_+.-]{1,200}$/;

test("E60 whatever a container is called, its ids are valid, and differ from those of every other name and generation", () => {
  const longest = taskId("g".repeat(63), "t".repeat(63), 999_999);
  const name = fc.string({ minLength: 1, maxLength: 255, unit: "grapheme" });
  fc.assert(
    fc.property(name, name, fc.integer({ min: 1, max: 1_000_000 }), (a, b, generation) => {
      const id = runtimeId(longest, a, generation);
      expect(id).toMatch(EXECUTOR_ID);
      expect(runtimeId(longest, a, generation + 1)).not.toBe(id);
      expect(taskIdOf(id)).toBe(longest);
      if (a !== b) expect(runtimeId(longest, b, generation)).not.toBe(id);
    }),
  );
});

test("T3 an id of a task is a part of a path, and nothing else", () => {
  expect(isTaskId(taskId("g", "web-1_a", 3))).toBe(true);
  for (const id of ["", "a/../b", "..", "g..t.1", ".", "a b", "x".repeat(300), "-a", "a\n"])
    expect(isTaskId(id), JSON.stringify(id)).toBe(false);
});
