import { expect, test } from "vitest";
import { journalGreeting, journalLine, parseRecord } from "./index.ts";

const record = (stream: string, text: string) => parseRecord(Buffer.from(`2026-11-24T16:00:00.000000000Z ${stream} F ${text}`));

test("E51: journald is told who speaks, and the priority of each line; nothing of a line counts as a priority of its own", () => {
  expect(journalGreeting("web/app").toString()).toBe("web/app\n\n6\n1\n0\n0\n0\n");
  expect(journalLine(record("stdout", "hello")).toString()).toBe("<6>hello\n");
  expect(journalLine(record("stderr", "<0>panic")).toString()).toBe("<3><0>panic\n");
  expect(journalLine(record("stdout", "a\0<0>b")).toString()).toBe("<6>a <0>b\n");
  expect(journalLine(record("stdout", "")).toString()).toBe("<6>\n");
});
