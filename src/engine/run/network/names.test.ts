import { expect, test } from "vitest";
import { type TaskSpec, taskSchema } from "../../spec/index.ts";
import { addressFor, namesFor } from "./names.ts";

const spec = (name: string, network: object): TaskSpec =>
  taskSchema.parse({ name, network, containers: [{ name: "c", rootfs: "/r", command: "x" }] });
const WEB = { spec: spec("web", { name: "front", further: [{ name: "back" }] }) };
const db = (network: object, addresses: string[]) => ({ name: "db", spec: spec("db", network), network: { addresses } });

test("E71: in each network that both are in a task has the address that it has there, and the names that it has there", () => {
  const both = db({ name: "back", aliases: ["database"], further: [{ name: "admin", aliases: ["mysql"] }] }, [
    "10.0.0.2/20",
    "10.0.1.2/20",
  ]);
  expect(namesFor(WEB, both)).toEqual([{ address: "10.0.0.2", names: ["db", "database"] }]);
  expect(namesFor({ spec: spec("monitor", { name: "admin" }) }, both)).toEqual([{ address: "10.0.1.2", names: ["db", "mysql"] }]);
  expect(namesFor({ spec: spec("stranger", { name: "other" }) }, both)).toEqual([]);
  expect(namesFor({ spec: spec("nameless", {}) }, db({}, ["10.0.0.3/20"]))).toEqual([]);
});

test("one whose networks are not made yet is not found", () => {
  expect(namesFor(WEB, { ...db({ name: "back" }, []), network: null })).toEqual([]);
});

test("T23: a task reaches another one of its group in a network that both name, or if neither names one", () => {
  const group = "default";
  const both = { group, ...db({ name: "other", further: [{ name: "back" }] }, ["10.0.0.2/20", "10.0.1.2/20"]) };
  const nameless = { group, ...db({}, ["10.0.2.2/20"]) };
  expect(addressFor({ group, ...WEB }, both)).toBe("10.0.1.2");
  expect(addressFor({ group: "another", ...WEB }, both)).toBeUndefined();
  expect(addressFor({ group, ...WEB }, nameless)).toBeUndefined();
  expect(addressFor({ group, spec: spec("web", {}) }, both)).toBeUndefined();
  expect(addressFor({ group, spec: spec("web", {}) }, nameless)).toBe("10.0.2.2");
  expect(addressFor({ group, spec: spec("web", {}) }, { ...nameless, network: null })).toBeUndefined();
});
