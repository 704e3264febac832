/**
 * Writes the cases the fuzzer begins with: the plans of the sample bundles and of exec, one plan for every operation, and arguments of the
 * monitor and of the notifier. Usage: seeds.ts DIRECTORY
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { cgroupSources, compileCgroup, resolveCgroup } from "../../src/runtime/cgroup/index.ts";
import { deriveConfig } from "../../src/runtime/config/index.ts";
import { compile, type Invocation } from "../../src/runtime/plan/index.ts";
import { parseSpec } from "../../src/runtime/spec/index.ts";
import { MESSAGES, OPS, type OpName } from "../../src/shared/protocol/index.ts";
import { HYBRID_HOST, UNIFIED_HOST } from "../support/hosts.ts";
import { init, intermediate, packPlan, type TestOp } from "../support/pack.ts";
import { container } from "../support/plans.ts";

/** Bundled by fuzz.mk, and started in the repository. */
const BUNDLES = resolve("bundles");
const MODE = { plan: 0, monitor: 1, notify: 2, arguments: 3 } as const;

/** Numbers of the calls, as calls.h lists them. */
const CALLS = [...readFileSync("test/fuzz-init/calls.h", "utf8").matchAll(/X\((\w+), "/g)].map(([, name]) => name);
const ACTION = { errno: 0, always: 1, value: 2, data: 3, fill: 4 } as const;
const ERRNO = { EPERM: 1, ENOSYS: 38, ENOMEM: 12, EBUSY: 16, EACCES: 13, EEXIST: 17 } as const;
const WORD = 4;

/** What the fake kernel answers to the call after the next `skip` of its kind. */
interface Rule {
  readonly call: string;
  readonly skip?: number;
  readonly action: keyof typeof ACTION;
  readonly data: Buffer;
}

function packRule({ call, skip = 0, action, data }: Rule): Buffer {
  const number = CALLS.indexOf(call);
  if (number < 0) throw new Error(`no call ${call} in calls.h`);
  return Buffer.concat([Buffer.from([number, skip, ACTION[action], data.length]), data]);
}

function data(call: string, bytes: string | Buffer, skip = 0): Rule {
  return { call, skip, action: "data", data: Buffer.from(bytes as string, "latin1") };
}

function value(call: string, ...numbers: readonly number[]): Rule {
  const bytes = Buffer.alloc(WORD * numbers.length);
  for (const [index, number] of numbers.entries()) bytes.writeInt32LE(number, WORD * index);
  return { call, action: numbers.length === 1 ? "value" : "data", data: bytes };
}

/** The kernel does not have the call, or a sandbox refuses it. */
function refuse(call: string, errno: keyof typeof ERRNO = "ENOSYS"): Rule {
  return { call, action: "always", data: Buffer.from([ERRNO[errno] - 1, 0]) };
}

const TRACED = 8;

/** The same, of a plan that is traced. */
function tracedCase(body: Buffer, rules: readonly Rule[] = []): Buffer {
  const bytes = caseOf("plan", body, rules);
  bytes.writeUInt8(TRACED, 1);
  return bytes;
}

/** A case (test/fuzz-init/case.h); without rules the kernel does what is asked of it. */
function caseOf(mode: keyof typeof MODE, body: Buffer, rules: readonly Rule[] = []): Buffer {
  const header = Buffer.alloc(6);
  header.writeUInt8(MODE[mode], 0);
  header.writeUInt32LE(body.length, 2);
  return Buffer.concat([header, body, ...rules.map(packRule)]);
}

function bundlePlan(name: string, facts: typeof HYBRID_HOST, more: Partial<Invocation>): readonly TestOp[] {
  const invocation: Invocation = { id: "seed", mode: "create", noPivot: false, noNewKeyring: false, preserveFds: 0, listenFds: 0, ...more };
  const config = deriveConfig(parseSpec(readFileSync(join(BUNDLES, name, "config.json"), "utf8"), true), { bundle: `/bundles/${name}` });
  const path = resolveCgroup(config.cgroupsPath, "seed");
  const console = config.process?.terminal ? { consoleSocket: "/run/console.sock" } : {};
  const { ops } = compile({
    config,
    host: {
      stateDirectory: "/run/runt/seed",
      rootless: false,
      cgroupVersion: facts.version,
      cgroupSources: cgroupSources(facts, path),
      cgroup: compileCgroup(facts, path, config.resources, { rootless: false }),
    },
    invocation: { ...console, ...invocation },
  });
  return ops.flatMap(({ op, actor, args }) => (actor === "runtime" ? [] : [{ op, actor, args } as TestOp]));
}

const SAMPLES = {
  u32: 1,
  bool: true,
  slot: 5,
  u64: 1n,
  i64: -1n,
  str: "/a/b",
  strs: ["a=b", "ro"],
  u32s: [1, 0, 2],
} as const;

/** What an operation finds when it runs alone: a root, a link, something in its slot. */
function planOfOne(op: OpName): readonly TestOp[] {
  const { actors, fields } = OPS[op];
  const args = Object.fromEntries(Object.entries(fields).map(([name, type]) => [name, SAMPLES[type]]));
  const actor = (actors as readonly string[]).includes("init") ? "init" : "intermediate";
  const before = [
    intermediate("mount.open", { source: "/source", slot: 5 }),
    intermediate("file.open", { path: "/run/exec.fifo", slot: 3 }),
  ];
  const clone = intermediate("process.clone", { flags: 0x2_0000 });
  const root = [init("root.propagation", { flags: 0x8_4000 }), init("root.open", { path: "/bundle/rootfs" })];
  return actor === "intermediate" ? [...before, { op, actor, args }, clone] : [...before, clone, ...root, { op, actor, args }];
}

function words(...values: readonly string[]): Buffer {
  return Buffer.from(values.map((value) => `${value}\0`).join(""));
}

function allCases(): Map<string, Buffer> {
  const cases = new Map<string, Buffer>();
  const addPlan = (name: string, ops: readonly TestOp[]) => cases.set(name, caseOf("plan", packPlan(ops)));
  const bundles = readdirSync(BUNDLES, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  for (const { name } of bundles) {
    addPlan(`${name}-v1`, bundlePlan(name, HYBRID_HOST, {}));
    addPlan(`${name}-v2-run`, bundlePlan(name, UNIFIED_HOST, { mode: "run" }));
    addPlan(`${name}-no-pivot`, bundlePlan(name, HYBRID_HOST, { noPivot: true }));
  }
  addPlan("small", container({ root: "/bundle/rootfs" }));
  const small = packPlan(container({ root: "/bundle/rootfs" }));
  cases.set("traced", tracedCase(small));
  // Less than its own header, and room for no operation.
  for (const [name, size] of [
    ["traced-tiny", 8],
    ["traced-short", 64],
  ] as const) {
    const stat = Buffer.alloc(18);
    stat.writeUInt16LE(0o100600, 0);
    stat.writeUInt32LE(size, 10);
    cases.set(name, tracedCase(small, [data("fstat", stat)]));
  }
  cases.set("traced-unmapped", tracedCase(small, [refuse("mmap", "ENOMEM")]));
  for (const [op, { actors }] of Object.entries(OPS))
    if (actors.some((actor) => actor !== "runtime")) addPlan(`one-${op}`, planOfOne(op as OpName));
  const addRules = (name: string, ops: readonly TestOp[], ...rules: readonly Rule[]) =>
    cases.set(name, caseOf("plan", packPlan(ops), rules));

  const hook = [
    intermediate("process.clone", {}),
    init("hook.run", {
      kind: "createContainer",
      path: "/bin/hook",
      args: ["hook"],
      env: ["A=b"],
      timeout: 2,
      statePrefix: "{",
      stateSuffix: "}",
    }),
    init("sync.send", { message: MESSAGES.ready }),
  ];
  const running = value("wait4", 0, 0);
  addPlan("hook", hook);
  addRules("hook-child", hook, { ...value("clone", 0), skip: 0 });
  addRules("hook-fails", hook, running, value("wait4", 77, 256), data("read", "", 0), data("read", "out\n", 1), data("read", "error ", 1));
  addRules("hook-late", hook, running, running, value("clock_gettime", 1000), refuse("pidfd_open"));
  addRules("hook-missing", hook, data("read", "\xfe\xff\xff\xff"));

  const copy = [
    intermediate("process.clone", {}),
    init("root.open", { path: "/bundle/rootfs", inPlace: true }),
    init("directory.open", { path: "/var", slot: 5 }),
    init("directory.copy", { path: "/var", slot: 5 }),
    init("sync.send", { message: MESSAGES.ready }),
  ];
  addRules("copy", copy, data("getdents64", "link\0file\0dir\0fifo\0.\0..\0"), data("getdents64", "file\0", 1), value("sendfile", 9));

  const enter = (flags: number) => [
    intermediate("namespace.enter", { pid: 77, startTime: 12345n, flags }),
    intermediate("process.clone", {}),
    init("root.current", { path: "/" }),
    init("sync.send", { message: MESSAGES.ready }),
  ];
  addPlan("enter", enter(0x6c02_0080));
  addPlan("enter-user", enter(0x7c02_0080));
  addRules("enter-each", enter(0x7c02_0080), refuse("pidfd_open"));
  addRules("enter-each-refused", enter(0x7c02_0080), refuse("pidfd_open"), refuse("setns", "EPERM"));
  const sameInode = data("fstat", Buffer.from([0xa4, 0x81, 0, 0, 0, 0, 9, 0, 0, 0]));
  addRules("enter-own-user", enter(0x7c02_0080), sameInode, sameInode);

  const join = [0x1000_0000, 0x2_0000].map((flag) => intermediate("namespace.join", { flag, path: `/proc/1/ns/${flag}` }));
  const joined = [
    ...join,
    intermediate("time.offsets", { monotonicSeconds: -1n }),
    intermediate("process.clone", {}),
    init("loopback.up"),
    init("keyring.join", { name: "k" }),
  ];
  addPlan("join", joined);
  addRules("join-own-user", joined, sameInode, sameInode);
  addRules("join-another", joined, value("ioctl", 5));

  addRules("idmap-child", planOfOne("idmap.open"), value("clone", 0));
  addRules("source-child", planOfOne("source.serve"), value("clone", 0));
  const asked = [
    intermediate("source.serve"),
    intermediate("process.clone", {}),
    init("mount.open", { source: "/host/closed", slot: 5 }),
    init("mount.idmap", { slot: 5, userNamespace: 6 }),
  ];
  addRules("source-asked", asked, refuse("open_tree", "EACCES"), data("recvmsg", Buffer.alloc(16)));
  addRules("source-without-answer", asked, refuse("open_tree", "EACCES"));
  addRules("device-child", planOfOne("device.open"), value("clone", 0));
  addRules("device-refused", planOfOne("device.open"), refuse("mknodat", "EPERM"));
  addRules("old-kernel", planOfOne("mount.bind"), refuse("open_tree"), refuse("mount_setattr"), refuse("openat2"), refuse("move_mount"));
  addRules("old-filesystem", planOfOne("mount.filesystem"), refuse("fsopen"), refuse("mount_setattr"), refuse("openat2"));
  addRules("filter", [
    intermediate("process.clone", {}),
    init("seccomp.receive"),
    init("seccomp.load", { flags: 8, listener: true, raise: true }),
    init("process.program", { name: "sh", path: "/bin:/usr/bin" }),
    init("process.home", { uid: 1000 }),
    init("process.exec", { args: ["sh"], env: ["A=b"] }),
  ]);

  const fail = (call: string, errno: keyof typeof ERRNO, skip = 0): Rule => ({ ...refuse(call, errno), skip, action: "errno" });
  const inside = (...ops: readonly TestOp[]) => [
    intermediate("process.clone", {}),
    init("root.open", { path: "/bundle/rootfs", inPlace: true }),
    ...ops,
    init("sync.send", { message: MESSAGES.ready }),
  ];
  addPlan("link", [
    intermediate("mount.openLink", { source: "/host/link", copy: true, slot: 5 }),
    ...inside(init("mount.bind", { slot: 5, target: "/a/b" })),
  ]);
  addPlan("read-only", inside(init("root.readonly"), init("mount.remount", { target: "/a", attrSet: 0x1fn, attrClear: 0x70n })));
  addRules(
    "strict-times",
    inside(init("mount.filesystem", { fstype: "tmpfs", source: "t", target: "/a", attrSet: 0x20n })),
    refuse("fsopen"),
  );
  addRules(
    "same-link",
    inside(init("symlink.create", { path: "/a/b", text: "/x" })),
    fail("symlinkat", "EEXIST"),
    data("readlinkat", "/x"),
  );
  const started = [init("sync.send", { message: MESSAGES.ready }), init("sync.wait", { message: MESSAGES.commit }), init("process.wait")];
  addRules(
    "hook-report",
    [
      intermediate("file.open", { path: "/run/exec.fifo", slot: 3 }),
      intermediate("process.clone", {}),
      ...started,
      init("hook.run", { kind: "startContainer", path: "/bin/hook", args: ["hook"], report: 3 }),
    ],
    value("wait4", 77, 256),
  );

  addRules("claim", [
    intermediate("file.open", { path: "/run/exec.fifo", slot: 3 }),
    intermediate("process.clone", {}),
    init("process.claim", { operations: [91, 153], most: 4096 }),
    init("console.size", { rows: 24, columns: 80 }),
    init("file.receive", { path: "/tmp/a", mode: 0o600, bytes: 3n }),
    init("process.exec", { args: ["/bin/true"] }),
  ]);

  // What the fuzzer has found, each as small as it can be said: they also stand in regressions.pack.
  const idMap = { uidMap: [0, 1, 1], gidMap: [0, 1, 1], slot: 5 };
  addRules("finding-idmap-path", [intermediate("idmap.open", idMap), intermediate("process.clone", {})], fail("openat", "EACCES", 3));
  addRules("finding-terminal-name", inside(init("console.open", { uid: 12, bindConsole: false })), fail("fchown", "EPERM"));
  addPlan("finding-copy-of-nothing", inside(init("directory.copy", { path: "/var" })));
  addPlan("finding-move-without-root", [
    intermediate("file.open", { path: "/x", slot: 0 }),
    intermediate("process.clone", {}),
    init("root.move"),
  ]);
  addRules(
    "finding-unasked-descriptor",
    inside(init("sync.wait", { message: MESSAGES.resume })),
    data("recvmsg", Buffer.from([1, MESSAGES.resume, 0, 0, 0])),
  );
  addRules("finding-mask-descriptor", inside(init("path.mask", { path: "/proc/acpi" })), refuse("move_mount"));
  addPlan("finding-mask-twice", [
    intermediate("mask.open"),
    ...inside(init("path.mask", { path: "/proc/kcore" }), init("descriptors.sweep", { first: 3 })),
  ]);
  addRules(
    "finding-bind-without-source",
    [intermediate("file.open", { path: "/x", slot: 5 }), ...inside(init("mount.bind", { slot: 5, target: "/a" }))],
    refuse("open_tree"),
  );
  addPlan("finding-no-listener", inside(init("seccomp.receive"), init("seccomp.load", { flags: 0, listener: true })));

  const watched = words(
    "--init",
    "77",
    "--pidfd",
    "3",
    "--console",
    "5",
    "--executable",
    "6",
    "--notify",
    "7",
    "--notify-host",
    "8",
    "--rmdir",
    "/a",
    "--unlink",
    "/b",
    "--try-rmdir",
    "/c",
    "--",
    "delete",
  );
  const message = Buffer.concat([
    Buffer.from([4, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0]),
    Buffer.from("/sh"),
  ]);
  const quiet = data("ppoll", Buffer.from([0, 1]));
  cases.set("monitor", caseOf("monitor", watched));
  cases.set(
    "monitor-trace",
    caseOf("monitor", words("--init", "77", "--pidfd", "3", "--console", "5", "--executable", "6", "--trace", "7", "--rmdir", "/a", "--")),
  );
  cases.set("monitor-fails", caseOf("monitor", watched, [data("recvfrom", message)]));
  cases.set("monitor-busy", caseOf("monitor", watched, [{ ...refuse("unlinkat", "EBUSY") }]));
  cases.set("monitor-cleaner", caseOf("monitor", watched, [refuse("unlinkat", "EACCES"), value("clone", 0)]));
  cases.set("monitor-old", caseOf("monitor", watched, [refuse("unlinkat", "EACCES"), value("clone", 0), refuse("execveat")]));
  cases.set(
    "monitor-signals",
    caseOf("monitor", watched, [quiet, data("read", "\x0f"), quiet, data("read", "\x1c"), refuse("pidfd_send_signal")]),
  );
  cases.set("monitor-plain", caseOf("monitor", words("--init", "77", "--executable", "6", "--")));
  const notifier = words("3", "4", "5", "77");
  cases.set("notify", caseOf("notify", notifier));
  cases.set("notify-ready", caseOf("notify", notifier, [data("recvfrom", "STATUS=x\nREADY=1")]));
  cases.set("notify-late", caseOf("notify", notifier, [quiet, data("recvfrom", "STATUS=x"), quiet]));
  cases.set("arguments", caseOf("arguments", words("plan", "3", "x")));
  return cases;
}

const directory = process.argv[2]!;
mkdirSync(directory, { recursive: true });
for (const [name, bytes] of allCases()) writeFileSync(join(directory, name), bytes);
