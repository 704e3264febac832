import { expect, test } from "vitest";
import { EngineError } from "../errors.ts";
import { selectionIn, type TaskFile } from "./specs.ts";

const TASK = { name: "t", containers: [{ name: "a", rootfs: "/r", command: "x" }] };
const names = (file: unknown) => selectionIn(file as TaskFile).names;
const errorOf = (file: unknown): EngineError => {
  try {
    names(file);
  } catch (error) {
    expect(error).toBeInstanceOf(EngineError);
    return error as EngineError;
  }
  throw new Error("it was taken");
};

test("a task is taken as a text, as an object and in a list", () => {
  expect([names(JSON.stringify(TASK)), names(TASK), names([TASK, { ...TASK, name: "u" }])]).toEqual([["t"], ["t"], ["t", "u"]]);
});

test.each([undefined, null, 5, true])("%s is no task file", (file) => {
  expect(errorOf(file).code).toBe("invalid-argument");
});

test.each([{}, [], { tasks: [] }])("the errors of %j are an EngineError that names the first one", (file) => {
  const error = errorOf(file);
  expect(error.code).toBe("invalid-spec");
  expect(error.message).toMatch(/^the file has (?:an error: line:1:1|errors: line:1:1): /);
  expect(error.details["findings"]).not.toEqual([]);
});
