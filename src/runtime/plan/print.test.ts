import { describe, expect, it, test } from "vitest";
import { CREATE, type FieldType, MESSAGES, NO_SLOT, OPS, type OpDefinition, type OpName } from "../../shared/protocol/index.ts";
import { describeOperation } from "./describe.ts";
import { printMermaid } from "./mermaid.ts";
import type { Op, Plan } from "./plan.ts";
import { printPlan, printSandbox } from "./print.ts";
import { declaredSystemCalls, systemCallsOf } from "./system-calls.ts";

const VALUES: Readonly<Record<FieldType, unknown>> = {
  u32: 1,
  bool: true,
  u64: 1n,
  i64: 1n,
  slot: 5,
  str: "/x",
  strs: ["a"],
  u32s: [0, 1, 1],
};

/** One operation of each kind. */
const EVERY = (Object.entries(OPS) as [OpName, OpDefinition][]).map(
  ([op, { actors, fields }]) =>
    ({
      op,
      actor: actors[0],
      phase: "host",
      from: "/x",
      args: Object.fromEntries(Object.entries(fields).map(([name, type]) => [name, VALUES[type]])),
    }) as unknown as Op,
);

const planOf = (...ops: readonly unknown[]): Plan => ({ version: 1, id: "c", slots: 5, ops: ops as Op[] });

const FORM = planOf(
  { op: "cgroup.create", actor: "runtime", phase: "host", from: "/linux/cgroupsPath", args: { path: "/runt/hello" } },
  {
    op: "cgroup.write",
    actor: "runtime",
    phase: "host",
    from: "/linux/resources/memory/limit",
    args: { path: "/sys/fs/cgroup/runt/hello/memory.max", value: "67108864" },
  },
  {
    op: "mount.bind",
    actor: "init",
    phase: "mounts",
    from: "/mounts/0",
    args: {
      slot: 5,
      target: "/srv",
      create: CREATE.likeSource,
      attrDrop: 1n,
      attrSet: 6n,
      attrClear: 8n,
      recursiveSet: 1n,
      recursiveClear: 0n,
      propagation: [0x8_4000],
    },
  },
  { op: "process.exec", actor: "init", phase: "process", from: "/process/args", args: { args: ["/bin/echo", "hello world"], env: [] } },
);

describe("printPlan", () => {
  it("groups by phase and has the origin at the right margin of 100 columns", () => {
    expect(printPlan(FORM).split("\n")).toEqual([
      " HOST    1 cgroup.create  /runt/hello                                             /linux/cgroupsPath",
      "         2 cgroup.write   memory.max = 67108864                        /linux/resources/memory/limit",
      " MOUNT   3 mount.bind     slot 5 -> /srv nosuid,nodev,exec,rro,rslave only                 /mounts/0",
      ' PROG    4 process.exec   /bin/echo "hello world"                                      /process/args',
      "",
    ]);
  });

  it("never is wider, and loses nothing of what is long", () => {
    const args = Array.from({ length: 200 }, (_, index) => `argument-${index}`);
    const long = planOf({
      op: "process.exec",
      actor: "init",
      phase: "process",
      from: "/process/args",
      args: { args: [...args, "x".repeat(300)], env: [] },
    });
    const text = printPlan(long, { explain: systemCallsOf });
    for (const line of text.split("\n")) expect(line.length).toBeLessThanOrEqual(100);
    for (const word of args) expect(text).toContain(word);
    expect(text.replace(/\s/g, "")).toContain("x".repeat(300));
  });

  it("explains who does it, and how", () => {
    expect(printPlan(FORM, { explain: systemCallsOf })).toContain(
      'runtime: ?openat(AT_FDCWD, "/sys/fs/cgroup/runt/hello/memory.max", O_WRONLY);',
    );
  });
});

describe("every operation", () => {
  it.each(EVERY.map((op) => [op.op, op] as const))("%s can be described and explained", (name, op) => {
    expect(describeOperation(op)).not.toMatch(/undefined|\[object|NaN/);
    for (const call of systemCallsOf(op)) expect(call).toMatch(/^[<>]?\??\+?[a-z0-9_]+\(.*\)$/);
    const fields = Object.keys(OPS[name].fields);
    for (const call of declaredSystemCalls(name)) for (const [, field] of call.matchAll(/\$(\w+)/g)) expect(fields).toContain(field);
  });

  it("that changes something names a system call", () => {
    const silent = EVERY.filter((op) => declaredSystemCalls(op.op).length === 0).map(({ op }) => op);
    expect(silent).toEqual(["idmap.verify", "process.umask"]);
  });
});

describe("printMermaid", () => {
  const plan = planOf(
    { op: "helper.spawn", actor: "runtime", phase: "spawn", from: "", args: { cgroup: "" } },
    { op: "process.clone", actor: "intermediate", phase: "namespaces", from: "", args: { flags: 0, cgroup: NO_SLOT } },
    { op: "hostname.set", actor: "init", phase: "namespaces", from: "", args: { name: 'a"b|c' } },
    { op: "sync.send", actor: "init", phase: "commit", from: "", args: { message: MESSAGES.ready } },
    { op: "sync.wait", actor: "runtime", phase: "commit", from: "", args: { message: MESSAGES.ready } },
  );

  it("has a lane for each actor, its phases, and the arrows between them", () => {
    const lines = printMermaid(plan).split("\n");
    expect(lines[0]).toBe("flowchart TB");
    for (const actor of ["runtime", "intermediate", "init"])
      expect(lines.some((line) => line.startsWith(`  subgraph ${actor}[`))).toBe(true);
    expect(lines).toContain("  n1 --> n5");
    expect(lines).toContain("  n1 -. starts .-> n2");
    expect(lines).toContain("  n2 -. clones .-> n3");
    expect(lines).toContain("  n4 -. ready .-> n5");
    expect(lines.filter((line) => /^ *subgraph/.test(line))).toHaveLength(lines.filter((line) => /^ *end$/.test(line)).length);
  });

  it("lets no text end its box", () => {
    const box = printMermaid(plan)
      .split("\n")
      .find((line) => line.includes("hostname.set"));
    expect(box?.match(/"/g)).toHaveLength(2);
    expect(box).toContain("#34;");
  });
});

test("a sandbox, with its size and the place it is said at, within 100 columns", () => {
  const id = "5f2c".repeat(16);
  const text = printSandbox({
    type: "sandbox",
    manager: "containerd",
    id,
    size: { cpus: 4 / 3, memoryMiB: 192, machine: { vcpus: 3, memoryMiB: 2240 }, from: ["/annotations/a", "/annotations/b"] },
    shm: { bytes: 67_108_864 },
    from: ["/annotations/io.kubernetes.cri.container-type"],
  });
  expect(text.split("\n").map((line) => line.replace(/ {2,}/g, " | ").trim())).toEqual([
    `SANDBOX sandbox ${id} (containerd)`,
    "| /annotations/io.kubernetes.cri.container-type",
    "| may use 1.333 CPUs, 192 MiB | /annotations/a",
    "| as a machine: 3 vCPUs, 2240 MiB (1 vCPU and 2048 MiB of its own)",
    "| /dev/shm of 67108864 bytes",
    "",
  ]);
  for (const line of text.split("\n")) expect(line.length).toBeLessThanOrEqual(100);
});

test.each([
  [
    "a container",
    { type: "container", manager: "cri-o", id: "p", from: ["/x"], shm: { source: "/run/p/shm" } },
    ["container of sandbox p (cri-o)", "/dev/shm is /run/p/shm"],
  ],
  ["without an id", { type: "container", manager: "cri-o", from: ["/x"] }, ["container without an id (cri-o)"]],
  [
    "no limits",
    { type: "single", from: [], size: { cpus: 0, memoryMiB: 0, machine: { vcpus: 1, memoryMiB: 2048 }, from: [] } },
    ["single container", "may use any CPU time, any memory"],
  ],
  [
    "one CPU",
    { type: "single", from: [], size: { cpus: 1, memoryMiB: 1, machine: { vcpus: 2, memoryMiB: 2049 }, from: [] } },
    ["may use 1 CPU, 1 MiB"],
  ],
] as const)("%s", (_, sandbox, words) => {
  for (const word of words) expect(printSandbox(sandbox)).toContain(word);
});
