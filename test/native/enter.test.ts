/** exec: entering the namespaces of a process that exists. */
import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { makeRootfs, type Options, type Outcome, runPlan } from "../support/helper.ts";
import { init, intermediate, type TestOp } from "../support/pack.ts";
import { CLONE_NEW } from "../support/plans.ts";
import { isRoot, VARIANTS } from "../support/variants.ts";

const ESRCH = 3;
const WITHOUT_PIDFD: readonly (readonly [string, Options])[] = [
  ["no pidfd_open", { refuse: { errno: "ENOSYS", calls: ["pidfd_open"] } }],
  ["pidfd_open refused", { refuse: { errno: "EPERM", calls: ["pidfd_open"] } }],
];
const KINDS = { pid: "pid", mount: "mnt", uts: "uts", ipc: "ipc", network: "net", user: "user" } as const;
type Kind = keyof typeof KINDS;

describe.skipIf(!isRoot).each([...VARIANTS, ...WITHOUT_PIDFD])("namespace.enter: %s", (_, options) => {
  let root: string;
  let target: ChildProcess | undefined;
  beforeAll(() => {
    root = makeRootfs();
  });
  afterAll(() => rmSync(root, { recursive: true, force: true }));
  afterEach(() => {
    target?.kill("SIGKILL");
    target = undefined;
  });

  /** The first process of a new PID namespace, with new namespaces of the other kinds, and its pid here. */
  async function start(flags: readonly string[]): Promise<number> {
    target = spawn(
      "unshare",
      [...flags, "--fork", "--kill-child", "--mount-proc", "--pid", "sh", "-c", `mount --bind ${root} /mnt; exec sleep 1000`],
      { stdio: "ignore" },
    );
    const children = () => readFileSync(`/proc/${target?.pid}/task/${target?.pid}/children`, "utf8").trim();
    await expect.poll(() => children() && readFileSync(`/proc/${children()}/comm`, "utf8"), { interval: 10 }).toBe("sleep\n");
    return Number(children());
  }

  const startTime = (pid: number) =>
    BigInt(
      readFileSync(`/proc/${pid}/stat`, "utf8")
        .replace(/^.*\) /s, "")
        .split(" ")[19] ?? "",
    );

  function enter(
    pid: number,
    kinds: readonly Kind[],
    script: string,
    args: { startTime?: bigint; first?: readonly TestOp[] } = {},
  ): Outcome {
    const flags = kinds.reduce((sum, kind) => sum | CLONE_NEW[kind], 0);
    const plan = [
      intermediate("proc.open"),
      intermediate("process.oomScoreAdj", { value: 321n }),
      intermediate("namespace.enter", { pid, startTime: args.startTime ?? startTime(pid), flags }),
      intermediate("process.clone", { flags: 0 }),
      ...(args.first ?? []),
      init("session.create"),
      init("root.current", { path: "/" }),
      init("process.cwd", { path: "/" }),
      init("process.program", { name: "sh", path: "/bin" }),
      init("descriptors.sweep", { first: 3 }),
      init("process.exec", { args: ["sh", "-c", script], env: ["PATH=/bin:/usr/bin"] }),
    ];
    return runPlan(plan, options);
  }

  const LINKS = (kinds: readonly Kind[]) => `for n in ${kinds.map((kind) => KINDS[kind]).join(" ")}; do readlink /proc/self/ns/$n; done`;

  test("all at once, and nothing of the host stays open", async () => {
    const pid = await start(["--mount", "--uts", "--ipc", "--net"]);
    const kinds: Kind[] = ["pid", "mount", "uts", "ipc", "network"];
    const script = `${LINKS(kinds)}; ls /mnt/bin/busybox; cat /proc/self/oom_score_adj; exec /bin/busybox ls /proc/self/fd`;
    const { error, stdout } = enter(pid, kinds, script);
    expect(error).toBeUndefined();
    expect(stdout).toBe(
      [...kinds.map((kind) => readlinkSync(`/proc/${pid}/ns/${KINDS[kind]}`)), "/mnt/bin/busybox", "321", "0", "1", "2", "3", ""].join(
        "\n",
      ),
    );
  });

  test("a user namespace with the others it owns; its root is the root there", async () => {
    const pid = await start(["--user", "--map-root-user", "--mount", "--uts"]);
    const kinds: Kind[] = ["user", "pid", "mount", "uts"];
    const { error, stdout } = enter(pid, kinds, `${LINKS(kinds)}; id -u`, { first: [init("process.becomeRoot")] });
    expect(error).toBeUndefined();
    expect(stdout.trim().split("\n")).toEqual([...kinds.map((kind) => readlinkSync(`/proc/${pid}/ns/${KINDS[kind]}`)), "0"]);
  });

  test("the user namespace one is in is left out", async () => {
    const pid = await start(["--mount", "--uts"]);
    expect(enter(pid, ["user", "pid", "mount", "uts"], "readlink /proc/self/ns/uts").stdout).toBe(
      `${readlinkSync(`/proc/${pid}/ns/uts`)}\n`,
    );
  });

  test("a process that is gone, or another one of the same number, is refused", async () => {
    const pid = await start(["--mount"]);
    expect(enter(pid, ["mount"], ":", { startTime: 1n }).error).toMatchObject({
      errno: ESRCH,
      op: 2,
      text: "the container's init is gone",
    });
    expect(enter(4_000_000, ["mount"], ":", { startTime: 1n }).error).toMatchObject({ errno: ESRCH, op: 2 });
    expect(readdirSync(`/proc/${pid}/ns`)).toContain("mnt");
  });
});
