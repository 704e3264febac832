import { expect, test } from "vitest";
import { type TaskSpec, taskSchema } from "../../spec/index.ts";
import { addressFor, namesFor } from "./names.ts";

const spec = (name: string, network: object): TaskSpec =>
  taskSchema.parse({ name, network, containers: [{ name: "c", rootfs: "/r", command: "x" }] });
const WEB = { group: "g", spec: spec("web", { name: "front", further: [{ name: "back" }] }) };
const db = (network: object, addresses: string[]) => ({ group: "g", name: "db", spec: spec("db", network), network: { addresses } });

test("E71: in each network that both are in a task has the address that it has there, and the names that it has there", () => {
  const both = db({ name: "back", aliases: ["database"], further: [{ name: "admin", aliases: ["mysql"] }] }, [
    "10.0.0.2/20",
    "10.0.1.2/20",
  ]);
  expect(namesFor(WEB, both)).toEqual([{ address: "10.0.0.2", names: ["db", "database"] }]);
  expect(namesFor({ group: "g", spec: spec("monitor", { name: "admin" }) }, both)).toEqual([
    { address: "10.0.1.2", names: ["db", "mysql"] },
  ]);
  expect(namesFor({ group: "g", spec: spec("stranger", { name: "other" }) }, both)).toEqual([]);
  expect(namesFor({ group: "g", spec: spec("nameless", {}) }, db({}, ["10.0.0.3/20"]))).toEqual([]);
});

test("E71: tasks of other groups are found in a network of the whole host, and in no other", () => {
  const proxy = {
    ...db({ name: "front", further: [{ name: "proxy", shared: true, aliases: ["api"] }] }, ["10.0.0.2/20", "10.0.1.2/20"]),
    group: "other",
  };
  const asking = (network: object) => namesFor({ group: "g", spec: spec("web", network) }, proxy);
  expect(asking({ name: "proxy", shared: true })).toEqual([{ address: "10.0.1.2", names: ["db", "api"] }]);
  expect(asking({ name: "proxy" })).toEqual([]);
  expect(asking({ name: "front", shared: true })).toEqual([]);
  expect(asking({ name: "front" })).toEqual([]);
});

test("E71: a task has further names for others in its own file, also by the names that Docker Compose gives to containers", () => {
  const other = { ...db({ name: "proxy", shared: true, aliases: ["api"] }, ["10.0.0.2/20"]), group: "shop" };
  const links = [
    ...["db", "api", "shop-db-1", "shop_db_1"].map((name, at) => ({ name, alias: `alias-${at}` })),
    { name: "shop_cache_1", alias: "none" },
    { name: "api", alias: "api" },
  ];
  const asking = { group: "g", spec: spec("web", { name: "proxy", shared: true, links }) };
  expect(namesFor(asking, other)).toEqual([{ address: "10.0.0.2", names: ["db", "api", "alias-0", "alias-1", "alias-2", "alias-3"] }]);
});

test("one whose networks are not made yet is not found", () => {
  expect(namesFor(WEB, { ...db({ name: "back" }, []), network: null })).toEqual([]);
});

test("T23: a task reaches another one of its group in a network that both name, or if neither names one", () => {
  const group = "default";
  const both = { ...db({ name: "other", further: [{ name: "back" }] }, ["10.0.0.2/20", "10.0.1.2/20"]), group };
  const nameless = { ...db({}, ["10.0.2.2/20"]), group };
  expect(addressFor({ ...WEB, group }, both)).toBe("10.0.1.2");
  expect(addressFor({ ...WEB, group: "another" }, both)).toBeUndefined();
  expect(addressFor({ ...WEB, group }, nameless)).toBeUndefined();
  expect(addressFor({ group, spec: spec("web", {}) }, both)).toBeUndefined();
  expect(addressFor({ group, spec: spec("web", {}) }, nameless)).toBe("10.0.2.2");
  expect(addressFor({ group, spec: spec("web", {}) }, { ...nameless, network: null })).toBeUndefined();
});
