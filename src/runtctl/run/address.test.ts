import { isIP } from "node:net";
import fc from "fast-check";
import { expect, test } from "vitest";
import { isAddress } from "./address.ts";

test.each([
  ...["127.0.0.1", "255.255.255.255", "256.0.0.1", "1.2.3", "1.2.3.4.", "01.2.3.4", "1.2.3.4%eth0", "", "1..2.3"],
  ...["::", "::1", "1::", "fe80::1%eth0", "fe80::1%", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1::8:", ":1::8", "1::2::3"],
  ...[
    "::ffff:1.2.3.4",
    "1:2:3:4:5:6:1.2.3.4",
    "1:2:3:4:5:6:7:1.2.3.4",
    "::1.2.3.4:5",
    "1.2.3.4::",
    "12345::",
    "g::",
    "1:2:3:4:5:6:7::",
    "1:2:3:4:5:6:7::8",
  ],
])("%j, as Node has it", (text) => {
  expect(isAddress(text)).toBe(isIP(text) !== 0);
});

test("texts of the characters of addresses, as Node has them", () => {
  const part = fc.constantFrom("", ":", "::", ".", "0", "1", "25", "255", "256", "a", "ffff", "1.2.3.4", "%", "eth0");
  fc.assert(
    fc.property(fc.array(part, { maxLength: 18 }), (parts) => {
      const text = parts.join("");
      expect([text, isAddress(text)]).toEqual([text, isIP(text) !== 0]);
    }),
    { numRuns: 20_000, seed: 7 },
  );
});
