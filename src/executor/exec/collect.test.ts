import { expect, test } from "vitest";
import { Ring } from "./collect.ts";

test("the last bytes are kept, however they come", () => {
  for (const size of [1, 3, 7, 100]) {
    const ring = new Ring(10);
    let all = "";
    for (let at = 0; all.length < 55; at++) {
      const chunk = String(at).repeat(size);
      all += chunk;
      ring.push(Buffer.from(chunk));
    }
    expect(ring.bytes().toString()).toBe(all.slice(-10));
    expect(ring.total).toBe(all.length);
  }
});

test("nothing, less than the size, and no size", () => {
  const ring = new Ring(10);
  expect(ring.bytes()).toHaveLength(0);
  ring.push(Buffer.from("abc"));
  expect(ring.bytes().toString()).toBe("abc");
  const none = new Ring(0);
  none.push(Buffer.from("abc"));
  expect(none.bytes()).toHaveLength(0);
  expect(none.total).toBe(3);
});
