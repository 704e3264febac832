import { expect, test } from "vitest";
import { parseTasks } from "../spec/index.ts";
import { newRecord, type TaskRecord } from "./index.ts";
import { USERS_OF_A_TASK, UserRanges } from "./user-ranges.ts";

const spec = (isPrivate: boolean) => {
  const { tasks, findings } = parseTasks(
    JSON.stringify({ name: "t", ...(isPrivate ? { privateUsers: true } : {}), containers: [{ name: "c", image: "oci:/i" }] }),
  );
  expect(findings).toEqual([]);
  return tasks[0]!;
};
const at = { bootId: "b", bootMs: 0, wallMs: 0 };
const recordWith = (first?: number): TaskRecord => {
  const common = { id: "g.t.1", group: "g", spec: spec(first !== undefined), cgroup: null, at };
  return newRecord(first === undefined ? common : { ...common, users: { first } });
};

test("T1 each task has a range that no other task has, also of those of the same file, and what is removed is free again", () => {
  const range = { first: 100_000, count: 3 * USERS_OF_A_TASK + 1 };
  const second = 100_000 + USERS_OF_A_TASK;
  const ranges = new UserRanges([recordWith(), recordWith(second)], range);
  expect(ranges.take(spec(false))).toBe("none");
  expect(ranges.take(spec(true))).toEqual({ first: 100_000 });
  expect(ranges.take(spec(true))).toEqual({ first: 100_000 + 2 * USERS_OF_A_TASK });
  expect(ranges.take(spec(true))).toBe("full");
  expect(new UserRanges([recordWith(100_000)], range).take(spec(true))).toEqual({ first: second });
});

test("ranges of a daemon that was configured otherwise are not given again in part", () => {
  const ranges = new UserRanges([recordWith(100_001)], { first: 100_000, count: 3 * USERS_OF_A_TASK });
  expect(ranges.take(spec(true))).toEqual({ first: 100_000 + 2 * USERS_OF_A_TASK });
});
