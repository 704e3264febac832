import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { newRecord, type TaskRecord } from "../../model/index.ts";
import { taskSchema } from "../../spec/index.ts";
import { Paths } from "../paths.ts";
import { SharedProxies } from "./shared-proxies.ts";

const spec = taskSchema.parse({ name: "p", start: "needed", containers: [{ name: "a", rootfs: "/r", command: "x" }] });
const proxy = (id: string): TaskRecord => newRecord({ id, group: "g", spec, cgroup: null, at: { bootId: "boot-0", bootMs: 0, wallMs: 0 } });
const [old, next] = [proxy("g.p.1"), proxy("g.p.2")];

let directory: string;
let records: Map<string, TaskRecord>;
let proxies: SharedProxies;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "runt-proxies-"));
  records = new Map([[old.id, old]]);
  proxies = new SharedProxies({ paths: new Paths(directory), records });
  proxies.prepare(old);
});
afterEach(() => rmSync(directory, { recursive: true }));

const file = (record: TaskRecord): string => join(proxies.placement(record)!.directory, "file");

test("E32: what the next proxy of a name makes while the directory of the former one is removed stays", async () => {
  writeFileSync(file(old), "old");
  const released = proxies.forget(old.id, old);
  records.set(next.id, next);
  proxies.prepare(next);
  writeFileSync(file(next), "new");
  await released;
  expect(existsSync(file(next))).toBe(true);
});

test("E32: the directory stays for another proxy of the name, and goes with the last; a removal may be repeated", async () => {
  records.set(next.id, next);
  await proxies.forget(old.id, old);
  expect(existsSync(proxies.placement(next)!.directory)).toBe(true);
  records.delete(old.id);
  await proxies.forget(next.id, next);
  await proxies.forget(next.id, next);
  expect(existsSync(join(directory, "shared-proxies"))).toBe(false);
  expect(existsSync(join(directory, "removed-proxies"))).toBe(false);
});
