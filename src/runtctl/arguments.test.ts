import { expect, test } from "vitest";
import { nameOf, parseArguments, UsageError } from "./arguments.ts";

test("-f is a file for apply, and follow for logs", () => {
  expect(parseArguments(["apply", "-f", "web.yaml"], {})).toMatchObject({ command: "apply", file: "web.yaml", isFollowing: false });
  expect(parseArguments(["logs", "web", "-f", "-c", "db", "-n", "5"], {})).toMatchObject({
    names: ["web"],
    file: undefined,
    isFollowing: true,
    container: "db",
    tail: 5,
  });
});

test("the socket: the option, the environment, the default", () => {
  expect(parseArguments(["get", "-s", "/a"], { RUNTD_SOCKET: "/b" })?.socket).toBe("/a");
  expect(parseArguments(["get"], { RUNTD_SOCKET: "/b" })?.socket).toBe("/b");
  expect(parseArguments(["get"], {})?.socket).toBe("/run/runtd/admin.sock");
});

test("what is wrong is a usage error, and help is none", () => {
  expect(parseArguments(["get", "--help"], {})).toBeUndefined();
  expect(() => parseArguments([], {})).toThrow(UsageError);
  expect(() => parseArguments(["get", "--nonsense"], {})).toThrow(UsageError);
  expect(() => parseArguments(["logs", "web", "-n", "-1"], {})).toThrow(UsageError);
  expect(() => nameOf(parseArguments(["delete"], {})!)).toThrow(UsageError);
});
