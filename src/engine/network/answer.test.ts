import { expect, test } from "vitest";
import { readError, readResult, readVersions } from "./answer.ts";

const EXPECTED = { version: "1.0.0", interface: "eth0", namespace: "/n" };
const read = (value: unknown) => readResult(typeof value === "string" ? value : JSON.stringify(value), EXPECTED);
const eth0 = { name: "eth0", sandbox: "/n" };

test("a result as the specification has it is taken with all its fields", () => {
  const result = {
    cniVersion: "1.0.0",
    interfaces: [eth0],
    ips: [{ address: "10.0.0.2/24", gateway: "10.0.0.1", interface: 0 }],
    dns: { x: 1 },
  };
  expect(read(result)).toEqual(result);
});

test.each([
  ["", "it is empty"],
  ["all is well", "it does not match the specification: "],
  ["[]", "it does not match the specification: "],
  [{ cniVersion: "0.4.0" }, "it is of version 0.4.0, and 1.0.0 was requested"],
  [{ cniVersion: "1.0.0", ips: [{ address: "10.0.0.2" }] }, "ips.0.address: is no address with a prefix"],
  [{ cniVersion: "1.0.0", ips: [{ address: "10.0.0.2/33" }] }, "is no address with a prefix"],
  [{ cniVersion: "1.0.0", ips: [{ address: "10.0.0.2/24", gateway: "here" }] }, "is no IP address"],
  [{ cniVersion: "1.0.0", interfaces: [eth0], ips: [{ address: "10.0.0.2/24", interface: 1 }] }, "to an interface that it does not list"],
  [{ cniVersion: "1.0.0", interfaces: [{ name: "eth0", sandbox: "/other" }] }, "has no interface eth0 in the task's namespace"],
])("an invalid result: %j: %s", (value, message) => {
  expect(read(value)).toContain(message);
});

test("errors and versions", () => {
  expect(readError('{"code": 11, "msg": "later", "details": "busy"}')).toBe("later (code 11): busy");
  expect(readError("{}")).toBeUndefined();
  expect(readVersions('{"cniVersion":"1.0.0","supportedVersions":["0.4.0","1.0.0"]}')).toEqual(["0.4.0", "1.0.0"]);
  expect(readVersions("no")).toBeUndefined();
});
