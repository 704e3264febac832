import { expect, test } from "vitest";
import { exposition } from "./exposition.ts";

test("samples with and without labels; quotes and newlines of a label are escaped", () => {
  const text = exposition([
    { name: "runtd_calls_total", type: "counter", help: "Calls.", values: [{ labels: { verb: 'a"b\nc\\' }, value: 2 }] },
    { name: "runtd_tasks", type: "gauge", help: "Tasks.", values: [{ value: 1 }] },
  ]);
  expect(text).toBe(
    [
      "# HELP runtd_calls_total Calls.",
      "# TYPE runtd_calls_total counter",
      'runtd_calls_total{verb="a\\"b\\nc\\\\"} 2',
      "# HELP runtd_tasks Tasks.",
      "# TYPE runtd_tasks gauge",
      "runtd_tasks 1",
      "",
    ].join("\n"),
  );
});
