/** seccomp.receive, seccomp.load and capability.drop: what is loaded, with which rights, and what is refused. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { MESSAGES, type OpArgs } from "../../src/shared/protocol/index.ts";
import { makeRootfs, type Outcome, runPlan } from "../support/helper.ts";
import { init, type TestOp } from "../support/pack.ts";
import { container } from "../support/plans.ts";
import { isRoot, VARIANTS } from "../support/variants.ts";

const EACCES = 13;
const EINVAL = 22;
const NEW_LISTENER = 8;
const SYS_ADMIN = 1n << 21n;
/** busybox of arm64 has no mkdir(2) to call. */
const MKDIR = process.arch === "arm64" ? 34 : 83;

/** Classic BPF: mkdir gives ENOSPC, everything else goes through. */
function filter(): Buffer {
  const code: readonly (readonly [number, number, number, number])[] = [
    [0x20, 0, 0, 0],
    [0x15, 0, 1, MKDIR],
    [0x06, 0, 0, 0x5_001c],
    [0x06, 0, 0, 0x7fff_0000],
  ];
  const bytes = Buffer.alloc(code.length * 8);
  code.forEach(([operation, ifTrue, ifFalse, value], index) => {
    bytes.writeUInt16LE(operation, index * 8);
    bytes.writeUInt8(ifTrue, index * 8 + 2);
    bytes.writeUInt8(ifFalse, index * 8 + 3);
    bytes.writeUInt32LE(value, index * 8 + 4);
  });
  return bytes;
}

describe.skipIf(!isRoot).each(VARIANTS)("seccomp: %s", (_, options) => {
  let root: string;
  let directory: string;
  let path: string;
  beforeEach(() => {
    root = makeRootfs();
    directory = mkdtempSync(join(tmpdir(), "runt-seccomp-"));
    path = join(directory, "filter");
    writeFileSync(path, filter());
  });
  afterEach(() => {
    rmSync(root, { recursive: true, force: true });
    rmSync(directory, { recursive: true, force: true });
  });

  const NO_NEW_PRIVILEGES = init("process.noNewPrivileges");
  const load = (args: Partial<OpArgs<"seccomp.load">> = {}): TestOp =>
    init("seccomp.load", { flags: 0, raise: false, listener: false, ...args });
  function run(ops: readonly TestOp[], script = "busybox mkdir /x; grep -E 'Seccomp:|CapPrm|CapEff' /proc/self/status"): Outcome {
    return runPlan(container({ root, process: [init("seccomp.receive"), ...ops], script }), { ...options, driver: ["--filter", path] });
  }

  test("the program has the filter", () => {
    const { error, stdout, stderr } = run([NO_NEW_PRIVILEGES, load()]);
    expect(error).toBeUndefined();
    expect(stdout).toMatch(/Seccomp:\s+2/);
    expect(stderr).toContain("No space left");
  });

  test("without no_new_privs, CAP_SYS_ADMIN of the permitted set is raised, and dropped again", () => {
    const none = { inheritable: 0n, ambient: 0n };
    const ops = [
      init("capability.bounding", { mask: 0x20n }),
      init("process.user", { uid: 0, gid: 0, groups: [], setgroups: true }),
      init("capability.set", { effective: 0x20n, permitted: 0x20n | SYS_ADMIN, ...none }),
      load({ raise: true }),
      init("capability.drop", { effective: SYS_ADMIN, permitted: SYS_ADMIN }),
    ];
    const { error, stdout } = run(ops);
    expect(error).toBeUndefined();
    expect(stdout).toMatch(/CapPrm:\s+0000000000000020\nCapEff:\s+0000000000000020\nSeccomp:\s+2/);
  });

  test("without either it is refused", () => {
    const ops = [
      init("process.user", { uid: 1000, gid: 1000, groups: [], setgroups: true }),
      init("capability.set", { effective: 0n, permitted: 0n, inheritable: 0n, ambient: 0n }),
      load({ raise: true }),
    ];
    expect(run(ops).error).toMatchObject({ errno: EACCES, text: "seccomp" });
  });

  test("a listener goes to the runtime", () => {
    const { error, reports } = run([NO_NEW_PRIVILEGES, load({ flags: NEW_LISTENER, listener: true })], "true");
    expect(error).toBeUndefined();
    expect(reports.map(({ type }) => type)).toContain(MESSAGES.listener);
  });

  test.each([
    ["empty", () => writeFileSync(path, "")],
    ["no whole instruction", () => writeFileSync(path, "1234567")],
    ["too long", () => writeFileSync(path, Buffer.alloc(4097 * 8))],
    [
      "a directory",
      () => {
        rmSync(path);
        mkdirSync(path);
      },
    ],
  ])("a file that is %s", (_name, spoil) => {
    spoil();
    expect(run([NO_NEW_PRIVILEGES, load()]).error).toMatchObject({ errno: EINVAL, text: "not a BPF program" });
  });

  test("another message instead is refused", () => {
    const plan = container({ root, process: [init("seccomp.receive")] });
    expect(runPlan(plan, { ...options, driver: ["--go"] }).error).toMatchObject({ text: "unexpected rendezvous message" });
  });

  test("what the kernel does not take, and what was never read", () => {
    writeFileSync(path, Buffer.alloc(8, 0xff));
    expect(run([NO_NEW_PRIVILEGES, load()]).error).toMatchObject({ errno: EINVAL, text: "seccomp" });
    expect(runPlan(container({ root, process: [load()] }), options).error).toMatchObject({ errno: EINVAL, text: "no filter was read" });
  });
});
