import { expect, test } from "vitest";
import { hasResolver, ownAddresses } from "./host.ts";

test("addresses of the host are those of the types local and broadcast, in each table", () => {
  const text = `Main:
  +-- 0.0.0.0/0 3 0 5
     |-- 0.0.0.0
        /0 universe UNICAST
     +-- 127.0.0.0/8 2 0 2
           |-- 127.0.0.0
              /8 host LOCAL
           |-- 127.0.0.1
              /32 host LOCAL
        |-- 127.255.255.255
           /32 link BROADCAST
     |-- 192.0.2.0
        /24 link UNICAST
Local:
     |-- 203.0.113.0
        /24 host LOCAL
        /25 universe UNICAST
`;
  expect(ownAddresses(text)).toEqual(["127.0.0.0/8", "127.0.0.1/32", "127.255.255.255/32", "203.0.113.0/24"]);
  expect(ownAddresses()).toContain("127.0.0.0/8");
});

test("a resolver is one that pasta finds: of IPv4, in its way of writing", () => {
  expect(hasResolver("search a\nnameserver ::1\nnameserver 10.0.0.1\n")).toBe(true);
  for (const text of ["", "nameserver ::1\n", "nameserver\t10.0.0.1\n", "nameserver 10.0.0.1 \n", "# nameserver 10.0.0.1\n"])
    expect(hasResolver(text), JSON.stringify(text)).toBe(false);
});
