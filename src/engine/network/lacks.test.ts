import { expect, test } from "vitest";
import { NetworkError } from "./errors.ts";
import { Fallback, lackIn } from "./lacks.ts";

const open = () => {};
/** What is made, what it is told, and whether a process was let in before it was there. */
async function attempt(
  fallback: Fallback,
  error: Error | undefined,
  { hasFallback = true, lacks }: { hasFallback?: boolean; lacks?: string } = {},
) {
  let isEarly: boolean | undefined;
  const make = async (whenJoinable: () => void) => {
    isEarly = whenJoinable === open;
    if (error !== undefined) throw error;
    return "bridge";
  };
  const made = await fallback.make({ hasFallback, lacks, open, make, fallBack: async (why) => `loopback: ${why}` }).catch(String);
  return { made, isEarly };
}

test("a task that can do without its network falls back on what the host lacks, and on nothing else", async () => {
  for (const [code, message] of [
    ["plugin-missing", "the network plugin bridge is not installed"],
    ["program-missing", "the program ip is not installed"],
    ["no-subnet", "every address has a route"],
    ["plugin-failed", 'the network plugin bridge has failed its ADD: failed to create bridge "rt-0": operation not supported'],
  ] as const) {
    const error = new NetworkError(code, message);
    expect(await attempt(new Fallback(), error)).toEqual({ made: `loopback: ${message}`, isEarly: false });
    expect((await attempt(new Fallback(), error, { hasFallback: false })).made).toBe(`NetworkError: ${message}`);
  }
  for (const error of [
    new NetworkError("plugin-timeout", "has not ended"),
    new NetworkError("plugin-failed", "no space"),
    new Error("EIO"),
  ])
    expect((await attempt(new Fallback(), error)).made).toBe(String(error));
  expect(await attempt(new Fallback(), undefined, { lacks: "nothing is there" })).toEqual({
    made: "loopback: nothing is there",
    isEarly: undefined,
  });
});

test("a process is let in early where the host has made a network before, and then there is no way back", async () => {
  const fallback = new Fallback();
  expect(await attempt(fallback, undefined, { hasFallback: false })).toEqual({ made: "bridge", isEarly: true });
  expect(await attempt(fallback, undefined)).toEqual({ made: "bridge", isEarly: false });
  expect(await attempt(fallback, undefined)).toEqual({ made: "bridge", isEarly: true });
  const error = new NetworkError("plugin-failed", "operation not supported");
  expect((await attempt(fallback, error)).made).toBe(String(error));
});

test("a missing plugin, and missing programs, are what a host lacks", () => {
  const locate = () => "/opt/cni/bin/bridge";
  const missing = () => {
    throw new NetworkError("plugin-missing", "the network plugin bridge is not installed");
  };
  expect(lackIn({ locate: missing }, "auto")).toBe("the network plugin bridge is not installed");
  expect(lackIn({ locate }, "auto")).toBeUndefined();
});
