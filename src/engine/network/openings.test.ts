import { expect, test } from "vitest";
import { Openings } from "./openings.ts";

const state = (promise: Promise<void>) => Promise.race([promise.then(() => "open"), new Promise((done) => setImmediate(done, "closed"))]);

test("E95: who waits goes on as soon as it is open, whenever he has asked", async () => {
  const openings = new Openings();
  const early = openings.wait("t");
  let end = () => {};
  const making = openings.during("t", () => new Promise<void>((done) => (end = done)));
  expect([await state(early), await state(openings.wait("t")), await state(openings.wait("other"))]).toEqual([
    "closed",
    "closed",
    "closed",
  ]);
  openings.open("t");
  expect([await state(early), await state(openings.wait("t"))]).toEqual(["open", "open"]);
  end();
  await making;
  expect(await state(openings.wait("t"))).toBe("open");
  openings.forget("t");
  expect(await state(openings.wait("t"))).toBe("closed");
});

test("E95: what ends without having opened is open then", async () => {
  const openings = new Openings();
  const early = openings.wait("t");
  expect(await openings.during("t", async () => 1)).toBe(1);
  expect(await state(early)).toBe("open");
});

test("E95: what fails fails for all who wait, also for who asks afterwards, and the next attempt is another one", async () => {
  const openings = new Openings();
  const early = openings.wait("t");
  await expect(openings.during("t", () => Promise.reject(new Error("no plugin")))).rejects.toThrow("no plugin");
  for (const one of [early, openings.wait("t")]) await expect(one).rejects.toThrow("no plugin");
  let end = () => {};
  const again = openings.during("t", () => new Promise<void>((done) => (end = done)));
  const late = openings.wait("t");
  expect(await state(late)).toBe("closed");
  end();
  await again;
  expect(await state(late)).toBe("open");
});
