import { expect, test } from "vitest";
import { freeSubnet } from "./networks.ts";

test("the same name has the same addresses, another one others; what has a route is left out", () => {
  const first = freeSubnet("a", ["default", "127.0.0.0/8", "fe80::/64"])!;
  expect(first).toMatch(/^10\.\d+\.\d+\.0\/20$/);
  expect(freeSubnet("a", [])).toBe(first);
  expect(freeSubnet("b", [])).not.toBe(first);
  // A single taken address is enough to exclude a subnet.
  expect(freeSubnet("a", [first.replace(/0\/20$/, "7")])).not.toBe(first);
  expect(freeSubnet("a", ["10.64.0.0/10"])).toBeUndefined();
  expect(freeSubnet("a", ["0.0.0.0/0"])).toBeUndefined();
  // A single free subnet is found, wherever it is.
  const others = Array.from({ length: 1024 }, (_, index) => `10.${64 + (index >> 4)}.${(index & 15) * 16}.0/20`);
  for (const at of [0, 500, 1023])
    expect(
      freeSubnet(
        "a",
        others.filter((_, index) => index !== at),
      ),
    ).toBe(others[at]);
});
