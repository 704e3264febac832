/** On directories in place of cgroups: a file that is not there is what a kernel without it looks like. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { writeCgroupFile } from "../../src/runtime/cgroup/driver/write.ts";

let cgroup: string;

beforeEach(() => {
  cgroup = mkdtempSync(join(tmpdir(), "runt-write-"));
});
afterEach(() => rmSync(cgroup, { recursive: true }));

function provide(files: Readonly<Record<string, string>>): void {
  for (const [name, content] of Object.entries(files)) writeFileSync(join(cgroup, name), content);
}

const write = (file: string, value: string) => writeCgroupFile(`${cgroup}/${file}`, value, "/linux/resources/x");
const read = (file: string) => readFileSync(join(cgroup, file), "utf8");

test("the value goes to the file", () => {
  provide({ "pids.max": "" });
  write("pids.max", "7");
  expect(read("pids.max")).toBe("7");
});

test.each([
  ["io.bfq.weight", "500", "io.weight", "4950"],
  ["io.bfq.weight", "10", "io.weight", "1"],
  ["io.bfq.weight", "1000", "io.weight", "10000"],
  ["io.bfq.weight", "8:0 750", "io.weight", "8:0 7475"],
  ["blkio.bfq.weight", "500", "blkio.weight", "500"],
  ["blkio.bfq.weight_device", "8:0 500", "blkio.weight_device", "8:0 500"],
])("without %s, %s goes to %s as %s", (file, value, other, turned) => {
  provide({ [other]: "" });
  write(file, value);
  expect(read(other)).toBe(turned);
});

test("with BFQ the weight is written as it is, and only there", () => {
  provide({ "io.bfq.weight": "", "io.weight": "100" });
  write("io.bfq.weight", "500");
  expect([read("io.bfq.weight"), read("io.weight")]).toEqual(["500", "100"]);
});

test.each([
  ["memory.swap.max", "0"],
  ["memory.swap.max", "max"],
  ["memory.memsw.limit_in_bytes", "-1"],
  ["memory.use_hierarchy", "1"],
  ["cpu.max.burst", "0"],
  ["cpu.cfs_burst_us", "0"],
  ["hugetlb.2MB.rsvd.max", "4096"],
  ["hugetlb.2MB.rsvd.limit_in_bytes", "4096"],
])("a kernel without %s needs no %s", (file, value) => {
  expect(() => write(file, value)).not.toThrow();
});

test.each([
  ["memory.swap.max", "4096"],
  ["memory.memsw.limit_in_bytes", "4096"],
  ["memory.use_hierarchy", "0"],
  ["cpu.max.burst", "100"],
  ["blkio.leaf_weight", "100"],
])("a kernel without %s cannot take %s", (file, value) => {
  expect(() => write(file, value)).toThrow(`cannot write "${value}" to ${cgroup}/${file}: `);
});

test("the error points into config.json and keeps its cause", () => {
  expect.assertions(1);
  try {
    write("pids.max", "7");
  } catch (error) {
    expect(error).toMatchObject({ code: "cgroup", details: { pointer: "/linux/resources/x", cause: { code: "ENOENT" } } });
  }
});

test("v2: a controller that is not enabled is named", () => {
  provide({ "cgroup.controllers": "cpu pids\n", "cgroup.type": "domain\n" });
  expect(() => write("memory.max", "1")).toThrow(`cannot set memory.max: the memory controller is not enabled for ${cgroup}`);
});

test("v2: a threaded cgroup is named as the reason", () => {
  provide({ "cgroup.controllers": "cpu pids\n", "cgroup.type": "threaded\n" });
  expect(() => write("memory.max", "1")).toThrow(`the cgroup ${cgroup} is threaded and has no memory controller`);
});

test("v2: a file that the kernel lacks although the controller is there", () => {
  provide({ "cgroup.controllers": "memory\n" });
  expect(() => write("memory.foo", "1")).toThrow(`cannot write "1" to ${cgroup}/memory.foo`);
});

test.each(["max", "limit_in_bytes"])("a page size that the host lacks is told with those it has (hugetlb.*.%s)", (suffix) => {
  provide({ [`hugetlb.2MB.${suffix}`]: "", [`hugetlb.1GB.${suffix}`]: "", [`hugetlb.2MB.rsvd.${suffix}`]: "" });
  expect(() => write(`hugetlb.3MB.${suffix}`, "1")).toThrow("this host has no huge pages of 3MB, only of 1GB, 2MB");
});

test("a cgroup that is not there", () => {
  mkdirSync(join(cgroup, "a"));
  expect(() => write("b/memory.max", "1")).toThrow(`cannot write "1" to ${cgroup}/b/memory.max`);
});
