/**
 * How the helper protects itself from the container that it makes. Elsewhere: the sealed memfd and what takes its place (host/run.sh), the
 * descriptor sweep (process.test.ts), the parent's death (namespace.test.ts), bounded parsing (plan.test.ts).
 */
import { openSync, readFileSync, readlinkSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Config } from "../support/config.ts";
import { call, RUNTIME, shell, useHarness } from "../support/harness.ts";
import { makeRootfs, runPlan } from "../support/helper.ts";
import { intermediate } from "../support/pack.ts";
import { container } from "../support/plans.ts";
import { isRoot, VARIANTS } from "../support/variants.ts";

const USER = 1000;
const FIRST_ID = 100_000;

describe.skipIf(!isRoot)("the waiting init (needs root)", () => {
  const { bundle, directory, id, ok, until } = useHarness();

  async function created(change: (config: Config) => void): Promise<{ name: string; pid: number }> {
    const name = id();
    const path = bundle((config) => {
      shell(config, "sleep 1000");
      config.process.capabilities = {};
      change(config);
    });
    await ok(["create", "-b", path, name]);
    return { name, pid: JSON.parse(await ok(["state", name])).pid };
  }

  const status = (pid: number, field: string) =>
    new RegExp(`^${field}:\\s*(\\S+)`, "m").exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];

  test("is not to be looked into by the container's user, whom the program belongs to", async () => {
    const { name, pid } = await created((config) => {
      config.process.user = { uid: USER, gid: USER };
    });
    expect(status(pid, "Uid")).toBe(String(USER));
    const asUser = async (...words: readonly string[]) =>
      (await call(directory, ["setpriv", `--reuid=${USER}`, `--regid=${USER}`, "--clear-groups", ...words])).status;
    for (const words of [
      ["readlink", `/proc/${pid}/exe`],
      ["ls", `/proc/${pid}/fd`],
      ["head", "-c0", `/proc/${pid}/environ`],
    ])
      expect(await asUser(...words), words.join(" ")).not.toBe(0);
    await ok(["start", name]);
    await until(name, "running");
    expect(await asUser("readlink", `/proc/${pid}/exe`)).toBe(0);
  });

  test("belongs to the host's root until execve, also in a user namespace", async () => {
    const { name, pid } = await created((config) => {
      config.linux.namespaces.push({ type: "user" });
      config.linux.uidMappings = [{ containerID: 0, hostID: FIRST_ID, size: 65_536 }];
      config.linux.gidMappings = [{ containerID: 0, hostID: FIRST_ID, size: 65_536 }];
    });
    expect([status(pid, "Uid"), statSync(`/proc/${pid}/mem`).uid]).toEqual([String(FIRST_ID), 0]);
    await ok(["start", name]);
    await until(name, "running");
    expect(statSync(`/proc/${pid}/mem`).uid).toBe(FIRST_ID);
  });

  test("is a sealed copy, not the runtime's file", async () => {
    const { pid } = await created(() => {});
    const executable = `/proc/${pid}/exe`;
    expect(readlinkSync(executable)).toBe("/memfd:runt-init (deleted)");
    const [ours, theirs] = [statSync(RUNTIME), statSync(executable)];
    expect([ours.dev, ours.ino]).not.toEqual([theirs.dev, theirs.ino]);
    expect(() => openSync(executable, "r+")).toThrow(/ETXTBSY|EPERM/);
  });

  test.each([
    [true, "1"],
    [false, "0"],
  ])("no_new_privs %s comes with a filter that a user without capabilities could not load otherwise", async (noNewPrivileges, expected) => {
    const { name, pid } = await created((config) => {
      config.process["noNewPrivileges"] = noNewPrivileges;
      config.process.user = { uid: USER, gid: USER };
      config.linux["seccomp"] = { defaultAction: "SCMP_ACT_ALLOW", syscalls: [{ names: ["acct"], action: "SCMP_ACT_ERRNO" }] };
    });
    await ok(["start", name]);
    await until(name, "running");
    await expect.poll(() => readlinkSync(`/proc/${pid}/exe`)).toContain("busybox");
    expect(["NoNewPrivs", "Seccomp", "CapEff", "CapPrm", "CapBnd"].map((field) => status(pid, field))).toEqual([
      expected,
      "2",
      ...Array(3).fill("0000000000000000"),
    ]);
  });
});

describe.skipIf(!isRoot).each(VARIANTS)("procfs: %s", (_, options) => {
  let root: string;
  beforeEach(() => {
    root = makeRootfs();
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  const withProc = (mount: string) => {
    const prefix = ["unshare", "--mount", "--propagation", "private", "sh", "-c", `${mount} && exec "$@"`, "sh"];
    return runPlan(container({ root, intermediate: [intermediate("proc.open")] }), { ...options, prefix });
  };

  test("another file system in its place, or a directory of one, is refused", () => {
    expect(withProc(":").error).toBeUndefined();
    for (const mount of ["mount -t tmpfs tmpfs /proc", "mount --bind /proc/sys /proc"])
      expect(withProc(mount).error, mount).toMatchObject({ errno: 22, path: "/proc", text: "not the root of a procfs" });
    expect(withProc(`mount --bind ${join(root, "proc")} /proc`).error).toMatchObject({ text: "not the root of a procfs" });
  });
});
