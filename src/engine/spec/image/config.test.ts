import { expect, test } from "vitest";
import type { z } from "zod";
import { parseImageConfig } from "./config.ts";

const ROOTFS = { type: "layers", diff_ids: [`sha256:${"1".repeat(64)}`] };
const parse = (config: unknown) => parseImageConfig({ os: "linux", architecture: "amd64", rootfs: ROOTFS, config });

test("what an image says of its process", () => {
  const config = {
    Env: ["A=b"],
    Entrypoint: ["/e"],
    Cmd: null,
    User: "web:99",
    WorkingDir: "srv",
    StopSignal: "SIGUSR1",
    Volumes: { "/d": {}, "/a/../..": {} },
  };
  expect(parse(config)).toEqual({
    ...{
      os: "linux",
      architecture: "amd64",
      env: ["A=b"],
      entrypoint: ["/e"],
      cmd: [],
      user: "web:99",
      cwd: "/srv",
      stopSignal: "SIGUSR1",
    },
    ...{ volumes: ["/d"], healthCheck: null, diffIds: ROOTFS.diff_ids },
  });
  expect(parse(undefined)).toMatchObject({ env: [], user: null, cwd: null, stopSignal: null });
});

test.each([
  [["NONE"], null],
  [[], null],
  [
    ["CMD", "/check", "-q"],
    ["/check", "-q"],
  ],
  [
    ["CMD-SHELL", "true || false"],
    ["/bin/sh", "-c", "true || false"],
  ],
])("a health check %j", (Test, command) => {
  const { healthCheck } = parse({ Healthcheck: { Test, Interval: 2_000_000_000, Retries: 5 } });
  expect(healthCheck).toEqual(command && { command, interval: 2000, timeout: 30_000, startPeriod: 0, retries: 5 });
});

test.each([{}, { rootfs: { type: "layers", diff_ids: ["../../x"] } }, { config: { Cmd: "text" } }, { config: { Env: ["a\0b"] } }])(
  "%j is refused",
  (change) => {
    const whole = { os: "linux", architecture: "amd64", rootfs: ROOTFS };
    expect(() => parseImageConfig(Object.keys(change).length === 0 ? null : { ...whole, ...change })).toThrow();
  },
);

test("a list with any number of wrong entries is one problem", () => {
  const wrong = Array.from({ length: 200_000 }, () => 0);
  const whole = { os: "linux", architecture: "amd64", rootfs: ROOTFS };
  const Volumes = Object.fromEntries(wrong.map((_, at) => [`${at}\0`, {}]));
  for (const change of [
    { rootfs: { type: "layers", diff_ids: wrong } },
    { rootfs: { type: "layers", diff_ids: wrong.slice(0, 9_000) } },
    { config: { Env: wrong } },
    { config: { Healthcheck: { Test: wrong } } },
    { config: { Volumes } },
  ]) {
    const problems = problemsOf({ ...whole, ...change });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(/^is no (?:list|object) (?:of|with) at most 10000 /);
  }
});

function problemsOf(value: unknown): string[] {
  try {
    parseImageConfig(value);
  } catch (error) {
    return (error as z.ZodError).issues.map(({ message }) => message);
  }
  return [];
}
