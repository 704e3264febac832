import { afterEach, expect, test, vi } from "vitest";
import { Sizes } from "./sizes.ts";

afterEach(() => vi.restoreAllMocks());

/** Measurements that the test ends. */
function measuring() {
  const begun: { readonly path: string; readonly signal: AbortSignal; readonly end: (bytes: number) => void; readonly fail: () => void }[] =
    [];
  const sizes = new Sizes(
    (path, signal) =>
      new Promise((resolve, reject) => {
        const fail = () => reject(new Error("not measured"));
        signal.addEventListener("abort", fail);
        begun.push({ path, signal, end: resolve, fail });
      }),
  );
  return { sizes, begun };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

test("many who ask at once have one measurement, and who asks soon after has its result", async () => {
  const { sizes, begun } = measuring();
  const asked = Array.from({ length: 50 }, () => sizes.of("1:1", "/a"));
  await settle();
  expect(begun.map(({ path }) => path)).toEqual(["/a"]);
  begun[0]!.end(7);
  expect(new Set(await Promise.all(asked))).toEqual(new Set([7]));
  const now = performance.now();
  const clock = vi.spyOn(performance, "now").mockReturnValue(now + 4_000);
  expect(await sizes.of("1:1", "/a")).toBe(7);
  clock.mockReturnValue(now + 60_000);
  const again = sizes.of("1:1", "/a");
  await settle();
  expect(begun).toHaveLength(2);
  begun[1]!.fail();
  expect(await again).toBeNull();
});

test("a measurement ends when the last who waits for it has gone, and one that has not begun does not begin", async () => {
  const { sizes, begun } = measuring();
  const readers = Array.from({ length: 4 }, () => new AbortController());
  const of = (identity: string, reader: number) =>
    sizes.of(identity, `/${identity}`, readers[reader]!.signal).catch((error: Error) => error.message);
  const asked = [of("a", 0), of("a", 1), of("b", 2), of("c", 3)];
  await settle();
  // Two at once: the third waits.
  expect(begun.map(({ path }) => path)).toEqual(["/a", "/b"]);
  readers[3]!.abort(new Error("gone"));
  readers[0]!.abort(new Error("gone"));
  await settle();
  expect(begun[0]!.signal.aborted).toBe(false);
  readers[1]!.abort(new Error("gone"));
  begun[1]!.end(5);
  expect(await Promise.all(asked)).toEqual(["gone", "gone", 5, "gone"]);
  expect(begun[0]!.signal.aborted).toBe(true);
  await settle();
  expect(begun).toHaveLength(2);
  // Who asks after that begins a new one.
  const next = sizes.of("a", "/a");
  await settle();
  begun[2]!.end(9);
  expect(await next).toBe(9);
});
