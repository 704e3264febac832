import { expect, test } from "vitest";
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
