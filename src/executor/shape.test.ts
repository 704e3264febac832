import { expect, test } from "vitest";
import { ExecutorError } from "./errors.ts";
import { checkOptions } from "./launch/check.ts";

const problemOf = (command: unknown): string => {
  try {
    checkOptions(command as Parameters<typeof checkOptions>[0]);
    return "";
  } catch (error) {
    expect(error).toBeInstanceOf(ExecutorError);
    expect((error as ExecutorError).code).toBe("invalid-argument");
    return (error as Error).message;
  }
};

test.each<[unknown, string]>([
  [undefined, "launch: expected an object, not undefined"],
  [null, "launch: expected an object, not null"],
  ["ls", "launch: expected an object, not a string"],
  [[], "launch: expected an object, not a list"],
  [{}, "launch: rootfs: is missing"],
  [{ rootfs: "/r" }, "launch: cmd: is missing"],
  [{ rootfs: 5, cmd: "ls" }, "launch: rootfs: expected a string, not a number"],
  [{ rootfs: "/r", cmd: "ls", args: "-l" }, "launch: args: expected a list of strings, not a string"],
  [{ rootfs: "/r", cmd: "ls", env: { A: 1 } }, "launch: env: expected an object of strings, not an object"],
  [{ rootfs: "/r", cmd: "ls", mounts: 5 }, "launch: mounts: expected a list of objects, not a number"],
  [{ rootfs: "/r", process: { args: ["ls"] }, resources: [] }, "launch: resources: expected an object, not a list"],
  [{ config: {} }, "launch: bundle: is missing"],
])("the arguments %j are refused by name", (command, problem) => {
  expect(problemOf(command)).toBe(problem);
});

test("an option that does not exist is refused with those that do", () => {
  expect(problemOf({ rootfs: "/r", cmd: "ls", command: "ls" })).toMatch(/^launch: command: there is no such option; use mounts, /);
  expect(problemOf({ rootfs: "/r", cmd: "ls", toString: "ls" })).toMatch(/^launch: toString: there is no such option/);
});

test("what is undefined is not given", () => {
  expect(problemOf({ rootfs: "/r", cmd: "ls", env: undefined, pty: true })).toBe("");
});
