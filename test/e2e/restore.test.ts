/**
 * restore against a criu that only speaks its protocol (test/probe/fake-criu.c): what it is asked, and what runt makes of its answers. What a real
 * one does with it is shown in the guest (test/guest/cases/checkpoint.test.ts).
 */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, openSync, readdirSync, readFileSync, readlinkSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { decodeMessage, encodeMessage, numberOf, textOf } from "../../src/runtime/criu/protobuf.ts";
import { cgroupOf, hasControllers, isUnified } from "../support/cgroups.ts";
import type { Config } from "../support/config.ts";
import { useDumps } from "../support/dumps.ts";
import { pairs, TYPE } from "../support/fake-criu.ts";
import { call, isRoot, isRunt, RUNTIME, useHarness } from "../support/harness.ts";
import { program } from "../support/programs.ts";

describe.skipIf(!(isRunt && isRoot))("restore, as criu sees it (needs root)", () => {
  const harness = useHarness();
  const { count, environment, image, images, ok, requests, restoring, running, runtime, stateOf, talk } = useDumps(harness);

  test.skipIf(!hasControllers)("the container is the restored process, in its cgroup and with its limits", async () => {
    image();
    const { name, args } = restoring((config) => {
      config.linux.resources = { pids: { limit: 77 } };
    });
    const pidFile = join(harness.directory, `pid-${count()}`);
    await ok([...args, "--pid-file", pidFile]);
    const { pid, status } = await stateOf(name);
    expect([status, readFileSync(pidFile, "utf8")]).toEqual(["running", String(pid)]);
    expect(readlinkSync(`/proc/${pid}/fd/1`)).toMatch(/\/call-\w+\.out$/);
    // The test's criu answers before its child executes anything.
    await expect.poll(() => readFileSync(`/proc/${pid}/comm`, "utf8")).toBe("sleep\n");
    expect(readFileSync(join(cgroupOf(pid, "pids"), "pids.max"), "utf8")).toBe("77\n");
    for (const controller of ["memory", "freezer", "cpu"]) expect(cgroupOf(pid, controller)).toMatch(/\/runt-test\b|\/[^/]*\/\d+$/);
    // Its parent is who adopts orphans, and no runt or criu is left.
    expect(await ok(["ps", "--format", "json", name])).toBe(`[${pid}]\n`);
    await ok(["pause", name]);
    expect((await stateOf(name)).status).toBe("paused");
    await ok(["resume", name]);
    await ok(["kill", name, "KILL"]);
    await harness.until(name, "stopped");
    await ok(["delete", name]);
  });

  test("what it is asked: the root, binds, streams, cgroups, flags", async () => {
    image(["pipe:[10]", "file[1a:2b]", "file[1a:2b]"]);
    const data = join(harness.directory, `data-${count()}`);
    mkdirSync(data);
    const { path, args } = restoring((config) => {
      config.mounts.push({ destination: "/mnt/data", type: "bind", source: data, options: ["bind"] });
    });
    await ok([
      ...args.slice(0, 2),
      "--tcp-established",
      "--lsm-profile",
      "apparmor:x",
      "--lsm-mount-context=y",
      "-no-subreaper",
      ...args.slice(2),
    ]);
    const { type, options } = requests()[0]!;
    expect(type).toBe(TYPE.restore);
    expect([textOf(options, 10), textOf(options, 13), textOf(options, 53), textOf(options, 63)]).toEqual([
      "restore.log",
      harness.rootfs(),
      "apparmor:x",
      "y",
    ]);
    expect([5, 26, 50].map((field) => numberOf(options, field))).toEqual([1, 1, 1]);
    expect(pairs(options, 23)).toContainEqual(["/mnt/data", data]);
    expect(pairs(options, 23)).toContainEqual(["/dev/null", "/dev/null"]);
    const inherited = (options.get(27) ?? []).map((value) => decodeMessage(value as Uint8Array));
    expect(inherited.map((one) => [textOf(one, 1), numberOf(one, 2)])).toEqual([
      ["pipe:[10]", 0],
      ["file[1a:2b]", 1],
    ]);
    const { cgroupsPath } = JSON.parse(readFileSync(join(path, "config.json"), "utf8")).linux;
    const roots = pairs(options, 25);
    expect(roots.some(([controller, place]) => controller === (isUnified ? "" : "memory") && place?.endsWith(cgroupsPath))).toBe(true);
  });

  test("criu has the root as a mount point, and the host does not", async () => {
    image();
    const { args } = restoring();
    await ok(args);
    const isMounted = (text: string) => text.split("\n").some((line) => line.split(" ")[4] === harness.rootfs());
    expect(isMounted(readFileSync(join(talk(), "mounts"), "utf8"))).toBe(true);
    expect(isMounted(readFileSync("/proc/self/mountinfo", "utf8"))).toBe(false);
  });

  test("a file of the host has a file in its place, and a device or what has none gets /dev/null", async () => {
    image(["file[18:3]", "file[1a:2b]", "file[1a:2c]"]);
    const entry = (name: string, mode: number) => encodeMessage({ 1: 1, 2: 3, 3: { 1: 3, 2: 1, 6: name, 10: mode } });
    const entries = [entry("file[18:3]", 0o20666), entry("file[1a:2b]", 0o100644), entry("file[1a:2c]", 0o100644)];
    const head = [Buffer.from("194356543831305600", "hex").subarray(0, 8)];
    const parts = entries.flatMap((bytes) => [Buffer.from([bytes.length, 0, 0, 0]), Buffer.from(bytes)]);
    writeFileSync(join(images(), "files.img"), Buffer.concat([...head, ...parts]));
    const { name, args } = restoring();
    // stdin and stdout are files of the test's, stderr is a pipe that the container must not get.
    const errors = join(harness.directory, `errors-${count()}`);
    const piped = ["bash", "-c", 'exec "$@" 2> >(cat >"$0")', errors, RUNTIME, "--root", harness.root, "--criu", program("fake-criu")];
    expect(await call(harness.directory, [...piped, ...args], environment())).toMatchObject({ status: 0, stderr: "" });
    const said = () => readFileSync(errors, "utf8");
    await expect.poll(said).toContain("standard stream 2 was a file of the host, and here it is none: the container gets /dev/null\n");
    expect(said()).not.toContain("standard stream 1");
    const inherited = (requests()[0]!.options.get(27) ?? []).map((value) => decodeMessage(value as Uint8Array));
    const [device, file, other] = inherited.map((one) => [textOf(one, 1), numberOf(one, 2)!] as const);
    expect([device![0], file, other![0]]).toEqual(["file[18:3]", ["file[1a:2b]", 1], "file[1a:2c]"]);
    expect(Math.min(device![1], other![1])).toBeGreaterThan(2);
    const { streams } = JSON.parse(readFileSync(join(harness.root, name, "state.json"), "utf8"));
    const inode = statSync("/dev/null").ino.toString(16);
    expect(streams).toEqual(
      [0, 1, 2].map((number) => expect.stringMatching(number === 1 ? /^file\[/ : new RegExp(`^file\\[[0-9a-f]+:${inode}\\]$`))),
    );
  });

  test("missing mount points are made inside the root, whatever its links say", async () => {
    image();
    const own = join(harness.directory, `rootfs-${count()}`);
    const [data, outside] = [join(harness.directory, `data-${count()}`), join(harness.directory, `outside-${count()}`)];
    for (const path of [own, data, outside, join(own, "real")]) mkdirSync(path);
    writeFileSync(join(data, "file"), "");
    symlinkSync(outside, join(own, "escape"));
    symlinkSync("/real", join(own, "link"));
    const bind = (destination: string, source: string) => ({ destination, type: "bind", source, options: ["bind"] });
    const { args } = restoring((config) => {
      config.root.path = own;
      config.mounts = [bind("/a/b/c", data), bind("/f/file", join(data, "file")), bind("/link/d", data), bind("/a/b/c/below", data)];
    });
    await ok(args);
    expect([statSync(join(own, "a/b/c")).isDirectory(), statSync(join(own, "f/file")).isFile()]).toEqual([true, true]);
    expect([existsSync(join(own, "real/d")), statSync(join(data, "below")).isDirectory()]).toEqual([true, true]);
    // The image has the mount by its real place.
    expect(pairs(requests()[0]!.options, 23)).toContainEqual(["/real/d", data]);
    const trap = restoring((config) => {
      config.root.path = own;
      config.mounts = [bind("/escape/made", data)];
    });
    await runtime(trap.args);
    expect(readdirSync(outside)).toEqual([]);
  });

  test("prestart and createRuntime hooks get the pid; loopback is up by then", async () => {
    image();
    const log = join(harness.directory, `hooks-${count()}`);
    const { name, args } = restoring((config) => {
      const note = (kind: string) => ({
        path: "/bin/sh",
        args: [
          "sh",
          "-c",
          `p=$(sed 's/.*"pid": *\\([0-9]*\\).*/\\1/'); echo ${kind} $p $(nsenter -t $p -n ip -o link show lo | grep -c 'UP') >>${log}`,
        ],
      });
      config.hooks = { prestart: [note("prestart")], createRuntime: [note("createRuntime")], poststart: [note("poststart")] };
    });
    await ok(args);
    const { pid } = await stateOf(name);
    expect(readFileSync(log, "utf8")).toBe(`prestart ${pid} 1\ncreateRuntime ${pid} 1\n`);
  });

  test("the terminal goes to the console socket", async () => {
    image(["/dev/pts/0", "/dev/pts/0", "/dev/pts/0"]);
    const [socket, out] = [join(harness.directory, `console-${count()}`), join(harness.directory, `console-${count()}.out`)];
    const receiver = spawn(program("receive-console"), [socket], { stdio: ["ignore", openSync(out, "w"), "inherit"] });
    try {
      await expect.poll(() => readFileSync(out, "utf8")).toContain("listening");
      const { args } = restoring((config) => {
        config.process.terminal = true;
      });
      await ok([...args, "--console-socket", socket], { FAKE_TERMINAL: "1" });
      await expect.poll(() => readFileSync(out, "utf8")).toContain("restored");
      expect(readFileSync(out, "utf8")).toContain("fds=1 payload=/dev/ptmx terminal=yes more=no");
    } finally {
      receiver.kill("SIGKILL");
    }
  });

  test("in the foreground it stays until the end, passes signals on and removes the container", async () => {
    image();
    const { name, path } = restoring();
    let monitor: number | undefined;
    const args = ["--criu", program("fake-criu"), "restore", "--image-path", images(), "-b", path, name];
    const ended = harness.runtime(args, { ...environment(), started: (child) => (monitor = child.pid) });
    await harness.until(name, "running");
    process.kill(monitor!, "SIGTERM");
    expect((await ended).status).toBe(128 + 15);
    expect((await runtime(["state", name])).stderr).toContain("container does not exist");
  });

  test("in the foreground, stopped while its container is deleted, it does nothing to the next one of the id", async () => {
    image();
    const { name, path } = restoring((config) => {
      config.process.args = ["/bin/sh", "-c", "exec sleep 1000"];
    });
    let monitor: number | undefined;
    const args = ["--criu", program("fake-criu"), "restore", "--image-path", images(), "-b", path, name];
    const ended = harness.runtime(args, { ...environment(), started: (child) => (monitor = child.pid) });
    await harness.until(name, "running");
    await expect.poll(() => readFileSync(`/proc/${monitor}/cmdline`, "utf8").split("\0")[1]).toBe("monitor");
    process.kill(monitor!, "SIGSTOP");
    await ok(["delete", "--force", name]);
    await ok(["run", "-d", "-b", path, name]);
    const { pid } = JSON.parse(await ok(["state", name]));
    process.kill(monitor!, "SIGCONT");
    expect((await ended).status).toBe(137);
    expect(JSON.parse((await runtime(["state", name])).stdout || "{}")).toMatchObject({ pid, status: "running" });
  });

  test.each([
    ["criu refuses", { FAKE_FAIL: "restore" }, "criu failed: type RESTORE errno 52: mnt: the first of two: log file: ", () => {}],
    ["criu dies", { FAKE_FAIL: "die" }, "criu has ended without an answer", () => {}],
    [
      "a hook fails",
      {},
      "error running createRuntime hook #0: exit status 3",
      (config: Config) => {
        config.hooks = { createRuntime: [{ path: "/bin/sh", args: ["sh", "-c", "exit 3"] }] };
      },
    ],
  ])("nothing is left when %s", async (_, env, words, change) => {
    image();
    const { name, path, args } = restoring(change);
    const failed = await runtime(args, env);
    expect([failed.status, failed.stderr]).toEqual([1, expect.stringContaining(words)]);
    expect((await runtime(["state", name])).stderr).toContain("container does not exist");
    const { cgroupsPath } = JSON.parse(readFileSync(join(path, "config.json"), "utf8")).linux;
    expect(existsSync(`/sys/fs/cgroup/${isUnified ? "" : "memory"}${cgroupsPath}`)).toBe(false);
  });

  test("a directory that is no checkpoint", async () => {
    mkdirSync(images());
    const { args } = restoring();
    const failed = await runtime(args);
    expect(failed.stderr).toContain("descriptors.json: no such file or directory (--image-path names the directory of a checkpoint)");
    expect(requests()).toEqual([]);
  });

  test("while criu works the container is being created, and kill says that it does not run", async () => {
    image();
    const wait = join(harness.directory, `go-${count()}`);
    const { name, args } = restoring((config) => {
      config.hooks = { createRuntime: [{ path: "/bin/sh", args: ["sh", "-c", `while [ ! -e ${wait} ]; do sleep 0.05; done`] }] };
    });
    const ended = runtime(args);
    await harness.until(name, "creating");
    expect((await runtime(["kill", name, "TERM"])).stderr).toContain("container not running");
    writeFileSync(wait, "");
    expect((await ended).status).toBe(0);
    expect((await stateOf(name)).status).toBe("running");
  });

  test("an id in use", async () => {
    image();
    const { name, path } = await running();
    const failed = await runtime(["restore", "-d", "--image-path", images(), "-b", path, name]);
    expect(failed.stderr).toContain("container with given ID already exists");
    expect((await stateOf(name)).status).toBe("running");
  });

  test("the message is the error that ended criu, not one that it went on after", async () => {
    image();
    const log = join(harness.directory, `log-${count()}`);
    writeFileSync(
      log,
      [
        "(00.04) Error (criu/util.c:1534): rlimit: Can't setup RLIMIT_NOFILE for self: Operation not permitted",
        ...Array(30).fill("(00.05) mnt: something else"),
        "(00.06) Error (criu/mount.c:3141): mnt: No mapping for 109:(null) mountpoint",
        "(00.07) Error (criu/cr-restore.c:2331): Restoring FAILED.\n",
      ].join("\n"),
    );
    const { stderr } = await runtime(restoring().args, { FAKE_FAIL: "restore", FAKE_LOG: log });
    expect(stderr).toContain("criu failed: type RESTORE errno 52: mnt: No mapping for 109:(null) mountpoint: log file: ");
  });
});
