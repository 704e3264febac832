import { expect, test } from "vitest";
import { lastLines } from "./command.ts";

test("the lines of a program as one, without those that are empty; of a long text its end", () => {
  expect(lastLines("  one \n\n \t\n two\r\nthree\n")).toBe("one; two; three");
  expect(lastLines(`x${"y".repeat(1000)}`)).toBe(`...${"y".repeat(400)}`);
});

test("1 MiB of blanks takes no longer than 1 MiB of anything else", () => {
  for (const text of [`a${" ".repeat(1 << 20)}b`, "\n".repeat(1 << 20), " \n".repeat(1 << 19), `a${"\t \r".repeat(1 << 18)}b`]) {
    const before = process.cpuUsage();
    lastLines(text);
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1000).toBeLessThan(1_000);
  }
});
