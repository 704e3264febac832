import { expect, test } from "vitest";
import { type TaskSpec, taskSchema } from "../../spec/index.ts";
import { followersOf } from "./apply.ts";

const spec = (name: string, dependsOn: object[] = []): TaskSpec =>
  taskSchema.parse({ name, containers: [{ name: "c", rootfs: "/r", command: "x", dependsOn }] });
const on = (name: string, restart?: boolean) => ({ container: `${name}/c`, ...(restart === undefined ? {} : { restart }) });

test("those go on with what they are to be restarted with, one behind the other, and no others", () => {
  const specs = [
    spec("proxy", [on("web", true)]),
    spec("web", [on("db", true)]),
    spec("report", [on("db")]),
    spec("mail", [on("db", false)]),
  ];
  expect([...followersOf(new Set(["db"]), specs)].sort()).toEqual(["proxy", "web"]);
  expect([...followersOf(new Set(["nobody"]), specs)]).toEqual([]);
});
