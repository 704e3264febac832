import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { freeSubnet, Networks } from "./networks.ts";

test("a network has the subnet that is asked for, until nobody is in it and another one is; no two have the same addresses", async () => {
  const directory = mkdtempSync(join(tmpdir(), "runt-networks-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const networks = new Networks({ directory, key: "k", timeoutMs: 30_000 });
  const [free, used] = [() => false, () => true];
  const [one, other] = [{ subnet: "198.51.100.0/24" }, { subnet: "203.0.113.0/24", gateway: "203.0.113.9" }];
  expect(await networks.get("g.a", one, free)).toMatchObject({ name: "runtd-k-g.a", subnet: one.subnet });
  // Who says nothing of it is in it.
  expect(await networks.get("g.a", {}, used)).toMatchObject(one);
  await expect(networks.get("g.a", other, used)).rejects.toThrow(
    "the network g.a has 198.51.100.0/24, and tasks are in it: to give it 203.0.113.0/24 with 203.0.113.9, delete them first",
  );
  await expect(networks.get("g.b", { subnet: "198.51.0.0/16" }, free)).rejects.toThrow("this host has a way to 198.51.100.0/24");
  await expect(networks.get("g.b", { subnet: "127.1.0.0/24" }, free)).rejects.toThrow("127.1.0.0/24 cannot be a network here");
  expect(await networks.get("g.a", other, free)).toMatchObject(other);
  expect(new Networks({ directory, key: "k", timeoutMs: 30_000 }).written()).toEqual([expect.objectContaining(other)]);
});

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
