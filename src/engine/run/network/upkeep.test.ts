import { expect, test, vi } from "vitest";
import { Upkeep } from "./upkeep.ts";

/** Each change waits until the test ends it. */
function scene() {
  const changes: { readonly what: string; readonly done: () => void; readonly failed: (error: Error) => void }[] = [];
  const told: string[] = [];
  const upkeep = new Upkeep<string>({
    isSame: (a, b) => a === b,
    set: (key, asked) => new Promise((done, failed) => changes.push({ what: `${key} ${asked}`, done, failed })),
    onSet: (key, asked) => told.push(`set ${key} ${asked}`),
    onFailed: (key, error) => told.push(`failed ${key}: ${(error as Error).message}`),
    retryMs: 1,
  });
  const next = async () => {
    while (changes.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    return changes.shift()!;
  };
  return { upkeep, told, changes, next };
}

test("changes of one key come one after the other, and of those that wait only the last is made", async () => {
  const { upkeep, told, next } = scene();
  for (const key of ["a", "a", "b"]) upkeep.ask(key, "1");
  const [a, b] = [await next(), await next()];
  for (const asked of ["2", "3"]) upkeep.ask("a", asked);
  expect([a.what, b.what]).toEqual(["a 1", "b 1"]);
  b.done();
  a.done();
  const last = await next();
  expect(last.what).toBe("a 3");
  let isSettled = false;
  const settled = upkeep.settled().then(() => {
    isSettled = true;
  });
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(isSettled).toBe(false);
  last.done();
  await settled;
  expect(told).toEqual(["set b 1", "set a 3"]);
});

test("a wait for some keys does not wait for the others", async () => {
  const { upkeep, next } = scene();
  for (const key of ["slow", "own"]) upkeep.ask(key, "1");
  const [slow, own] = [await next(), await next()];
  own.done();
  await upkeep.settled((key) => key === "own");
  slow.done();
  await upkeep.settled();
});

test("what has failed is tried again by itself, and told of once; what nobody asks for any more is not", async () => {
  const { upkeep, told, changes, next } = scene();
  upkeep.ask("a", "1");
  for (let times = 0; times < 3; times++) (await next()).failed(new Error("busy"));
  (await next()).done();
  await upkeep.settled();
  expect([told, upkeep.of("a")?.state]).toEqual([["failed a: busy", "set a 1"], "set"]);
  upkeep.ask("a", "2");
  const change = await next();
  upkeep.retain(() => false);
  change.failed(new Error("gone"));
  await upkeep.settled();
  await new Promise((resolve) => setTimeout(resolve, 10));
  expect([told.length, changes, upkeep.of("a")]).toEqual([2, [], undefined]);
});

test("after each failure of the same it waits twice as long, up to a minute", async () => {
  vi.useFakeTimers();
  try {
    const at: number[] = [];
    const begin = Date.now();
    const set = async () => {
      at.push((Date.now() - begin) / 1_000);
      throw new Error("busy");
    };
    new Upkeep<string>({ isSame: (a, b) => a === b, set, onFailed: () => {} }).ask("a", "1");
    await vi.advanceTimersByTimeAsync(200_000);
    expect(at).toEqual([0, 1, 3, 7, 15, 31, 63, 123, 183]);
  } finally {
    vi.useRealTimers();
  }
});
