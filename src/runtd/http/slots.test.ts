import { expect, test } from "vitest";
import { clientOf, Slots } from "./slots.ts";

const user =
  (uid: number, pid = 1) =>
  () =>
    Promise.resolve({ uid, pid });

test("the first places are for anybody, a client has a share of the others, and together they have all", async () => {
  const slots = new Slots(10, { free: 4, each: 2 });
  const nobody = () => Promise.reject(new Error("who it is does not matter yet"));
  const taken: (() => void)[] = [];
  const take = async (caller: Parameters<Slots["placeFor"]>[0]) => {
    const place = await slots.placeFor(caller);
    if (typeof place === "string") return place;
    taken.push(place());
    return "taken";
  };
  for (let count = 0; count < 4; count++) expect(await take(nobody)).toBe("taken");
  expect([await take(user(7)), await take(user(7, 2)), await take(user(7, 3))]).toEqual([
    "taken",
    "taken",
    "user 7 has 2 readers, and more than 4 are there",
  ]);
  expect([await take(user(0, 5)), await take(user(0, 5)), await take(user(0, 5))].slice(2)).toEqual([
    "process 5 has 2 readers, and more than 4 are there",
  ]);
  expect([await take(user(0, 6)), await take(user(0, 6)), await take(user(0, 8))]).toEqual(["taken", "taken", "there are 10 readers"]);
  // The fifth slot belongs to user 7. It may be freed twice.
  taken[4]!();
  taken[4]!();
  expect([await take(user(7)), await take(user(8))]).toEqual(["taken", "there are 10 readers"]);
  for (const free of taken) free();
  expect(await take(nobody)).toBe("taken");
});

test("a client that is not known is one as well", () => {
  expect([clientOf(undefined), clientOf({ uid: 0, pid: 3 }), clientOf({ uid: 3, pid: 4 })]).toEqual([
    "a client that is not known",
    "process 3",
    "user 3",
  ]);
});
