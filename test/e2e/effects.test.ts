/**
 * What strace sees of a `run` of the hello bundle, against the plan printed before: no path of the root file system is looked up
 * outside the in-root module, no descriptor above 2 is open in the program, and every effect is an operation of the plan.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { isHybrid, isUnified } from "../support/cgroups.ts";
import { call, isRoot, isRunt, RUNTIME, useHarness } from "../support/harness.ts";

interface Call {
  readonly pid: string;
  readonly name: string;
  readonly text: string;
}

/** `strace -f -o`: one line a call, unless it is interrupted by another process' line; the halves are joined here. */
function parseTrace(text: string): Call[] {
  const unfinished = new Map<string, string>();
  const calls: Call[] = [];
  for (const line of text.split("\n")) {
    const [, pid = "", rest = ""] = /^(\d+) +(.*)$/.exec(line) ?? [];
    if (rest.endsWith("<unfinished ...>")) {
      unfinished.set(pid, rest.slice(0, -"<unfinished ...>".length));
      continue;
    }
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(rest);
    const whole = resumed ? `${unfinished.get(pid) ?? ""}${resumed[1]}`.replace(/ \)( +=)/, ")$1") : rest;
    const name = /^(\w+)\(/.exec(whole)?.[1];
    if (name) calls.push({ pid, name, text: whole });
  }
  return calls;
}

/** Calls that change something, and the operations that may be the reason. `openat` is looked at apart. */
const REASONS: Readonly<Record<string, readonly string[]>> = {
  clone3: ["process.clone"],
  setns: ["namespace.join"],
  unshare: ["namespace.unshare"],
  setsid: ["session.create"],
  keyctl: ["keyring.join"],
  sethostname: ["hostname.set"],
  setdomainname: ["domainname.set"],
  mount: ["root.propagation", "root.open", "root.pivot", "root.finalPropagation"],
  move_mount: ["root.open", "mount.bind", "mount.filesystem", "path.readonly", "path.mask", "console.open"],
  mount_setattr: [
    "mask.open",
    "root.open",
    "mount.bind",
    "mount.filesystem",
    "mount.remount",
    "path.readonly",
    "path.mask",
    "root.readonly",
  ],
  fsmount: ["mount.filesystem", "path.mask"],
  pivot_root: ["root.pivot"],
  umount2: ["root.pivot"],
  mkdirat: ["mount.bind", "mount.filesystem", "directory.create"],
  mknodat: ["device.create"],
  symlinkat: ["symlink.create"],
  fchmod: ["device.create"],
  fchownat: ["device.create"],
  fchdir: ["root.pivot"],
  fchown: ["process.stdioOwner", "device.create"],
  umask: ["process.umask"],
  // Back to where it may run: the runtime had kept the intermediate away from its own processor.
  sched_setaffinity: ["process.clone"],
  setgroups: ["process.user"],
  setresgid: ["process.user"],
  setresuid: ["process.user"],
  capset: ["capability.set", "process.user"],
  chdir: ["process.cwd", "root.pivot"],
  close_range: ["descriptors.sweep"],
  execve: ["process.exec"],
};

/** Calls that only look, wait, talk to the runtime, or concern the helper's own memory and descriptors. */
const HARMLESS = new Set(
  (
    "close fcntl fstat newfstatat statx read recvmsg sendmsg poll ppoll mmap munmap prlimit64 openat openat2 open_tree fsopen fsconfig " +
    "sched_getaffinity getcwd faccessat2 faccessat prctl capget write socket ioctl lseek fstatfs readlinkat getgroups exit_group rt_sigprocmask rt_sigaction sched_yield"
  ).split(" "),
);

describe.skipIf(!isRoot || !isRunt)("the effects of run (needs root)", () => {
  const { bundle, directory, id, ok, root, rootfs } = useHarness();
  let operations: Set<string>;
  let counts: Map<string, number>;
  let calls: Call[];
  let helper: Call[];
  let program: Call[];
  /** The helper before the clone. */
  let intermediate: string | undefined;

  beforeAll(async () => {
    const path = bundle((config) => {
      config.process.args = ["/bin/ls", "/proc/self/fd"];
    });
    const name = id();
    const plan = JSON.parse(await ok(["plan", "--format", "json", "-b", path, name])) as { ops: { op: string }[] };
    counts = new Map();
    for (const { op } of plan.ops) counts.set(op, (counts.get(op) ?? 0) + 1);
    operations = new Set(plan.ops.map(({ op }) => op));
    const trace = join(directory, "trace");
    const { status, stderr } = await call(directory, ["strace", "-f", "-o", trace, RUNTIME, "--root", root, "run", "-b", path, name]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    calls = parseTrace(readFileSync(trace, "utf8"));
    // init is whoever executes the program; its part of the helper's work ends there.
    const start = calls.findIndex(({ text }) => text.startsWith('execve("/bin/ls"'));
    const init = calls[start]?.pid;
    helper = calls.slice(0, start + 1).filter(({ pid }) => pid === init);
    intermediate = calls.find(({ text }) => /^execveat\(.*"runt-init"/.test(text))?.pid;
    program = calls.slice(start + 1).filter(({ pid }) => pid === init);
  });

  test("there is something to look at", () => {
    expect(helper.length).toBeGreaterThan(50);
    expect(program.length).toBeGreaterThan(5);
  });

  test("every effect of init has its operation in the plan", () => {
    const unexplained = helper.filter(({ name }) => !HARMLESS.has(name) && !REASONS[name]?.some((op) => operations.has(op)));
    expect(unexplained.map(({ text }) => text)).toEqual([]);
  });

  test.each([
    ["mknodat", "device.create"],
    ["symlinkat", "symlink.create"],
    ["sethostname", "hostname.set"],
    ["setsid", "session.create"],
    ["keyctl", "keyring.join"],
    ["pivot_root", "root.pivot"],
    ["fsopen", "mount.filesystem"],
  ])("%s happens as often as %s is planned", (name, op) => {
    // The masks' shared tmpfs is the one file system that is not a mount of its own in the plan.
    const masks = name === "fsopen" && helper.some(({ text }) => text.startsWith('fsopen("tmpfs"')) ? 1 : 0;
    // On cgroup v2 and on hybrid hosts without systemd, the helper has made the usual ones before it cloned init.
    const before =
      name === "fsopen" && (isUnified || isHybrid)
        ? calls.filter(({ pid, text }) => pid === intermediate && text.startsWith("fsopen("))
        : [];
    expect(helper.filter((entry) => entry.name === name).length + before.length).toBe((counts.get(op) ?? 0) + masks);
  });

  test("init looks up no path below the root file system but through the in-root module", () => {
    const prefix = rootfs();
    const pivot = helper.findIndex(({ name }) => name === "pivot_root");
    expect(pivot).toBeGreaterThan(0);
    // In-root: openat2 with RESOLVE_IN_ROOT, or a single component without following links relative to a descriptor.
    const inRoot = ({ name, text }: Call) =>
      (name === "openat2" && text.includes("RESOLVE_IN_ROOT")) ||
      (/^\w+at\(\d+, "[^/"]*"/.test(text) && (name !== "openat" || text.includes("O_NOFOLLOW")));
    const before = helper.slice(0, pivot).filter((entry) => entry.text.includes(`"${prefix}/`) && !inRoot(entry));
    expect(before.map(({ text }) => text)).toEqual([]);
    // After the pivot: the root itself, cwd, the program (as its user, as execve would find it), and the mount calls on ".".
    const allowed =
      /^(chdir\("\/"\)|chdir\("[^"]*"\)|execve\(|openat\(AT_FDCWD, "\/(bin\/ls)?", [^)]*O_PATH|faccessat2?\(AT_FDCWD|newfstatat\(AT_FDCWD|statx\(AT_FDCWD|getcwd\(|mount\(NULL, "\."|umount2\("\.")/;
    const pathCall = /^(?!fsopen)\w+\((AT_FDCWD, )?"|^mount\(/;
    const after = helper.slice(pivot + 1).filter((entry) => pathCall.test(entry.text) && !inRoot(entry) && !allowed.test(entry.text));
    expect(after.map(({ text }) => text)).toEqual([]);
  });

  test("the program starts with stdin, stdout and stderr and nothing else", () => {
    // The first descriptor the program itself gets is 3.
    const first = program.find(({ name, text }) => name.startsWith("open") && / = \d+$/.test(text));
    expect(first?.text).toMatch(/ = 3$/);
  });

  test("what the runtime writes is named in the plan or is its own state", async () => {
    const runtime = calls.filter(({ pid }) => pid === calls[0]?.pid);
    const written = runtime.filter(
      ({ name, text }) => (name === "openat" || name === "open") && /O_(WRONLY|RDWR|CREAT)/.test(text) && !/ = -1 /.test(text),
    );
    const known = [`"${root}/`, `"${root}"`, '"/sys/fs/cgroup/', '"/proc/'];
    expect(written.map(({ text }) => text).filter((text) => !known.some((prefix) => text.includes(prefix)))).toEqual([]);
    const made = runtime.filter(({ name }) => name.startsWith("mkdir") || name.startsWith("mknod") || name.startsWith("symlink"));
    expect(made.map(({ text }) => text).filter((text) => !known.some((prefix) => text.includes(prefix)))).toEqual([]);
  });
});
