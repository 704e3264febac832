/** PER, what is about linux.intelRdt. */
import { existsSync } from "node:fs";
import * as assert from "../assert.ts";
import type { Levels } from "../group.ts";
import { intelRdt, Resctrl } from "../resctrl.ts";

const BASE = "/linux/intelRdt";
const L3 = "L3:0=f;1=f";
const MB = "MB:0=20;1=70";

export const resctrlItems = ({ must }: Levels): void => {
  must(3, "the process is put into the group that closID names", async (c) => {
    const resctrl = await Resctrl.mount(c);
    resctrl.make("gold");
    const container = await resctrl.create({ closID: "gold" });
    assert.deepEqual(resctrl.tasks("gold"), [await container.pid()]);
    assert.deepEqual(resctrl.tasks(""), []);
    for (const closID of ["a/b", "..", "info", "mon_groups"]) await resctrl.refuses({ closID }, `${BASE}/closID`);
  });
  must(4, "without a mounted resctrl intelRdt is an error; without intelRdt resctrl is not touched", async (c) => {
    if (existsSync("/sys/fs/resctrl/schemata")) c.skip("this machine has resctrl mounted");
    for (const fields of [{}, { closID: "/" }, { closID: "gold", l3CacheSchema: L3 }]) await c.refused(intelRdt(fields), BASE);
    if (!c.isRunt) return;
    const resctrl = await Resctrl.mount(c);
    const container = await resctrl.create(undefined);
    await container.start();
    await container.delete("--force");
    assert.deepEqual(resctrl.history(), []);
  });
  must(5, "without a closID the group has the container's id, is made for it and removed with it", async (c) => {
    const resctrl = await Resctrl.mount(c);
    const container = await resctrl.create({});
    assert.deepEqual([resctrl.groups(), resctrl.tasks(container.id)], [[container.id], [await container.pid()]]);
    await container.start();
    await container.delete("--force");
    assert.deepEqual(resctrl.groups(), []);
  });
  must(6, "closID / is the default group", async (c) => {
    const resctrl = await Resctrl.mount(c);
    const container = await resctrl.create({ closID: "/" });
    assert.deepEqual([resctrl.groups(), resctrl.tasks("")], [[], [await container.pid()]]);
    await container.delete("--force");
    assert.match(resctrl.read("", "schemata"), /L3:0=fff;1=fff/);
  });
  must(7, "closID with a schema: a missing group is made, an existing group must have the schema, and neither is removed", async (c) => {
    const resctrl = await Resctrl.mount(c);
    const fields = { closID: "gold", l3CacheSchema: L3 };
    const first = await resctrl.create(fields);
    assert.match(resctrl.read("gold", "schemata"), /L3:0=f;1=f\n/);
    const second = await resctrl.create(fields);
    assert.deepEqual(resctrl.tasks("gold"), [await first.pid(), await second.pid()]);
    await resctrl.refuses({ closID: "gold", l3CacheSchema: "L3:0=e" }, BASE);
    await resctrl.refuses({ closID: "gold", memBwSchema: MB }, BASE);
    for (const container of [first, second]) await container.delete("--force");
    assert.deepEqual([resctrl.groups(), resctrl.history().filter((line) => line.startsWith("rmdir"))], [["gold"], []]);
    // A failing create removes groups that it has made and nobody uses.
    await resctrl.refuses({ closID: "silver", schemata: ["L3:9=f", "L2:0=f"] }, BASE);
  });
  must(8, "closID without a schema names an existing group", async (c) => {
    const resctrl = await Resctrl.mount(c);
    await resctrl.refuses({ closID: "gold" }, BASE);
    resctrl.make("gold", L3);
    const container = await resctrl.create({ closID: "gold" });
    assert.deepEqual(resctrl.tasks("gold"), [await container.pid()]);
    await container.delete("--force");
    assert.deepEqual(resctrl.groups(), ["gold"]);
  });
  must(9, "l3CacheSchema, memBwSchema and schemata are written in this order; without them nothing is written", async (c) => {
    const resctrl = await Resctrl.mount(c);
    const container = await resctrl.create({ schemata: ["L3:0=7", "MB:1=90"], memBwSchema: MB, l3CacheSchema: L3 });
    const written = () => resctrl.history().flatMap((line) => line.split("/schemata ").slice(1));
    assert.deepEqual(written(), [L3, MB, "L3:0=7", "MB:1=90"]);
    assert.match(resctrl.read(container.id, "schemata"), /MB:0=20;1=90\n *L3:0=7;1=f\n/);
    await resctrl.create({});
    assert.equal(written().length, 4);
  });
  must(10, "memBwSchema sets only the memory bandwidth, and every schema is one line", async (c) => {
    const refused = (fields: Readonly<Record<string, unknown>>, field: string) => c.refused(intelRdt(fields), `${BASE}/${field}`);
    for (const text of ["L3:0=f", "MBA:0=20", "mb:0=20", " MB:0=20"]) await refused({ memBwSchema: text }, "memBwSchema");
    await refused({ memBwSchema: "MB:0=20\nL3:0=f" }, "memBwSchema");
    await refused({ l3CacheSchema: "L3:0=f\nMB:0=20" }, "l3CacheSchema");
    await refused({ schemata: ["L3:0=f", "MB:0=20\n"] }, "schemata/1");
  });
  must(11, "enableMonitoring makes a monitoring group with the container's id, and delete removes it", async (c) => {
    const resctrl = await Resctrl.mount(c);
    for (const closID of ["/", "gold", undefined]) {
      const container = await resctrl.create({ closID, enableMonitoring: true, ...(closID === "gold" && { l3CacheSchema: L3 }) });
      const { id } = container;
      const above = closID === "/" ? "" : (closID ?? id);
      const pid = await container.pid();
      assert.deepEqual([resctrl.monitors(above), resctrl.tasks(`${above}/mon_groups/${id}`), resctrl.tasks(above)], [[id], [pid], [pid]]);
      await container.delete("--force");
      if (closID !== undefined) assert.deepEqual(resctrl.monitors(above), []);
    }
    const plain = await resctrl.create({ closID: "gold", enableMonitoring: false });
    assert.deepEqual(resctrl.monitors("gold"), []);
    await plain.delete();
    // One that is there already belongs to somebody else.
    const bundle = c.bundle(intelRdt({ closID: "gold", enableMonitoring: true }));
    const { id } = c.container(bundle);
    resctrl.make(`gold/mon_groups/${id}`);
    assert.notEqual((await resctrl.call(["create", "--bundle", bundle, id])).status, 0);
    assert.deepEqual(resctrl.monitors("gold"), [id]);
  });
};
