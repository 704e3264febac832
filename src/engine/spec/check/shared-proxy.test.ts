import { expect, test } from "vitest";
import { parseTasks } from "../index.ts";

const container = { name: "c", rootfs: "/r", command: "x" };
const proxy = { name: "mesh", start: "needed", containers: [container] };
const user = { name: "a", sharedProxy: "mesh", containers: [container] };

const told = (...tasks: object[]) =>
  parseTasks(tasks.map((one) => JSON.stringify(one)).join("\n---\n")).findings.map(({ pointer, message }) => `${pointer}: ${message}`);

test("a task names its shared proxy, which is in the file and has start: needed", () => {
  expect(told(proxy, user)).toEqual([]);
  expect(told(user)).toEqual(["/sharedProxy: there is no task mesh"]);
  expect(told({ ...proxy, start: "always" }, user)).toEqual(["/sharedProxy: task mesh does not have start: needed"]);
  expect(told(proxy, { ...proxy, name: "a", sharedProxy: "mesh" })).toEqual(["/sharedProxy: a shared proxy uses none itself"]);
  const bundle = { ...user, containers: [{ name: "c", bundle: "/b" }] };
  expect(told(proxy, bundle)).toEqual(["/containers/0/bundle: config.json of a bundle has all variables, and the proxy's socket is one"]);
});
