/** What Docker makes of a healthcheck together with that of the image. Source: moby, daemon/commit.go, merge; daemon/health.go, getProbe. */
import { expect, test } from "vitest";
import { one, read, told } from "../../../test/support/engine/compose-file.ts";

const ofImage = (fields: string) => {
  const file = read(`services: { web: { image: example.org/a, healthcheck: ${fields} } }\n`);
  expect(file.findings).toEqual([]);
  const { healthCheck, imageHealthCheck } = file.inputs[0]!.containers[0]!;
  return { healthCheck, imageHealthCheck };
};

test.each(["{ disable: true }", "{ disable: true, test: [CMD, x] }", "{ test: [NONE] }", "{ test: [NONE], interval: 5s }"])(
  "%s: the check of the image does not apply",
  (fields) => expect(ofImage(fields)).toEqual({ imageHealthCheck: false }),
);

test("without a test the check of the image applies, with other times", () => {
  expect(ofImage("{ interval: 5s }")).toEqual({ imageHealthCheck: { interval: "5s" } });
  expect(ofImage("{ test: [], timeout: 1s, retries: 9, start_period: 1m, start_interval: 2s }")).toEqual({
    imageHealthCheck: { timeout: "1s", retries: 9, startPeriod: "1m", startInterval: "2s" },
  });
  for (const nothing of ["{}", "{ test: [] }", "{ interval: 0s, retries: 0 }", "{ disable: false }"]) expect(ofImage(nothing)).toEqual({});
});

test("times of 0 are the usual ones, and a service without an image has no other check", () => {
  expect(ofImage("{ test: [CMD, x], interval: 0s, timeout: 0ms }")).toEqual({
    healthCheck: { command: ["x"], interval: "30s", timeout: "30s", retries: 3, startPeriod: 0 },
  });
  for (const fields of ["{ disable: true }", "{ interval: 5s }"]) {
    const [input] = read(one(`    healthcheck: ${fields}\n`)).inputs;
    expect(Object.keys(input!.containers[0]!).filter((name) => /health/i.test(name))).toEqual([]);
  }
});

test("a kind of check without a command is refused", () => {
  for (const kind of ["CMD", "CMD-SHELL"])
    expect(told(one(`    healthcheck: { test: [${kind}] }\n`))).toEqual([
      expect.stringContaining("/services/web/healthcheck/test: names no command"),
    ]);
});
