import { expect, test } from "vitest";
import { ExecutorError } from "./errors.ts";
import { signalName, signalNumber } from "./signals.ts";

test("names with and without SIG, in any case, and numbers", () => {
  expect(["SIGTERM", "term", "TERM", "15", 15].map(signalNumber)).toEqual([15, 15, 15, 15, 15]);
  expect(signalNumber(64)).toBe(64);
  expect(signalName(9)).toBe("SIGKILL");
  expect(signalName(36)).toBe("SIGRTMIN+2");
});

test.each(["", "SIG", "SIGNOPE", "0", 0, -1, 65, 1.5, Number.NaN])("%j is no signal", (signal) => {
  expect(() => signalNumber(signal)).toThrow(ExecutorError);
});
