import { expect, test } from "vitest";
import { withSystemCalls } from "./performance.ts";

const report = (runt: number) => JSON.stringify({ runt: { state: { result: "passed", runt, crun: 200 } } });

test("the section is added at the end, and replaced where it is", () => {
  const page = "# Performance\n\nText.\n";
  const once = withSystemCalls(page, report(50), "Linux 6.1");
  expect(once.startsWith("# Performance\n\nText.\n\n## System calls on cgroup v2\n")).toBe(true);
  expect(once).toContain("| state | 50 | 200 | 0.25 |\n");
  const twice = withSystemCalls(`${once}\n## More\n\nEnd.\n`, report(100), "Linux 6.1");
  expect(twice).toContain("| state | 100 | 200 | 0.50 |\n\n## More\n\nEnd.\n");
  expect(twice).not.toContain("| state | 50 |");
});
