import { expect, test } from "vitest";
import { parseDuration } from "./duration.ts";
import { duration } from "./schema/quantities.ts";

test.each(["10s", "1h30m", "1.5s", "500ms", "0s", "3650d", "3651d", "10", "-1s", "1 s", "", "1y", "s"])("%j, as in a task file", (text) => {
  const { success, data } = duration.safeParse(text);
  expect(parseDuration(text)).toBe(success ? data : undefined);
});
