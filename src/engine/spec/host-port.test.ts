import { expect, test } from "vitest";
import { claimText, collide, portClaims } from "./host-port.ts";
import { task as taskSchema } from "./schema/task.ts";

const claims = (group: string, ...ports: object[]) =>
  portClaims(taskSchema.parse({ name: "t", containers: [{ name: "c", rootfs: "/r", command: "x" }], network: { ports } }), group);
const [a, b] = ["127.0.0.1", "127.0.0.2"];
const one = (more: object = {}, group = "g") => claims(group, { container: 80, ...more })[0]!;

test("two tasks can have one port on different addresses of the host, and not if one of them has it on all", () => {
  expect(collide(one({ address: a }), one({ address: b }))).toBe(false);
  expect(collide(one({ address: a }), one({ address: a }))).toBe(true);
  for (const all of [one(), one({ address: "0.0.0.0" })])
    expect([collide(one({ address: a }), all), collide(all, one({ address: a }))]).toEqual([true, true]);
  expect(collide(one(), one({ protocol: "udp" }))).toBe(false);
  expect([one(), one({ address: a }), one({ address: "::1" })].map(claimText)).toEqual(["80/tcp", "127.0.0.1:80/tcp", "[::1]:80/tcp"]);
});

test("the tasks of one service of a group share its port, and no others do", () => {
  const service = { service: { name: "web" } };
  expect(collide(one(service), one({ ...service, container: 81, host: 80 }))).toBe(false);
  expect(collide(one(service), one(service, "other"))).toBe(true);
  expect(collide(one(service), one())).toBe(true);
  expect(collide(one(service), one({ service: { name: "api" } }))).toBe(true);
});
