/**
 * checkpoint and restore against a criu that only speaks its protocol (test/probe/fake-criu.c): what it is asked, and what runt makes of its
 * answers. What a real one does with it is shown in the guest (test/guest/cases/checkpoint.test.ts).
 */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, openSync, readdirSync, readFileSync, readlinkSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { decodeMessage, messageOf, numberOf, textOf } from "../../src/runtime/criu/protobuf.ts";
import { cgroupOf, hasControllers, isUnified } from "../support/cgroups.ts";
import { type Config, sampleConfig } from "../support/config.ts";
import { pairs, TYPE, texts, useFakeCriu } from "../support/fake-criu.ts";
import { isRoot, isRunt, shell, useHarness } from "../support/harness.ts";
import { makeNetworkNamespace } from "../support/network-namespace.ts";
import { program } from "../support/programs.ts";

describe.skipIf(!(isRunt && isRoot))("checkpoint and restore, as criu sees them (needs root)", () => {
  const harness = useHarness();
  const { bundle, id } = harness;
  const fake = useFakeCriu(harness);
  const { ok, requests, runtime, image } = fake;
  let count = 0;
  let talk = "";
  let images = "";

  beforeEach(() => {
    count++;
    talk = fake.talk();
    images = fake.images();
  });

  const stateOf = async (name: string) => JSON.parse(await ok(["state", name]));

  async function running(change: (config: Config) => void = () => {}): Promise<{ name: string; path: string }> {
    const name = id();
    const path = bundle((config) => {
      shell(config, "sleep 1000");
      change(config);
    });
    await ok(["run", "-d", "-b", path, name]);
    return { name, path };
  }

  describe("checkpoint", () => {
    test("the container is gone afterwards, with its cgroup and its state", async () => {
      const { name } = await running();
      const { pid } = await stateOf(name);
      const cgroup = cgroupOf(pid, "memory");
      expect(await ok(["checkpoint", "--image-path", images, name])).toBe("");
      expect((await runtime(["state", name])).stderr).toContain("container does not exist");
      expect([existsSync(cgroup), existsSync(`/proc/${pid}`) && statSync(`/proc/${pid}`).isDirectory() && isAlive(pid)]).toEqual([
        false,
        false,
      ]);
      const [request, ...others] = requests();
      expect(others).toEqual([]);
      expect(request?.type).toBe(TYPE.dump);
      expect(numberOf(request!.options, 2)).toBe(pid);
      expect(statSync(images).mode & 0o777).toBe(0o700);
    });

    test("every flag reaches it", async () => {
      const { name } = await running();
      mkdirSync(join(images, "../earlier"), { recursive: true });
      const on = [
        "tcp-established",
        "ext-unix-sk",
        "shell-job",
        "file-locks",
        "auto-dedup",
        "link-remap",
        "tcp-skip-in-flight",
        "tcp-close",
      ];
      const words = [...on.map((flag) => `--${flag}`), "--manage-cgroups-mode", "full", "--empty-ns", "network", "--network-lock=nftables"];
      const paths = ["--image-path", images, "--work-path", `${images}-work`, "--parent-path", "../earlier"];
      await ok(["checkpoint", "--leave-running", ...words, ...paths, "--page-server", "[::1]:1234", name]);
      const { options } = requests()[0]!;
      expect(
        Object.fromEntries([3, 4, 5, 6, 7, 8, 12, 16, 18, 24, 34, 38, 46, 50, 52, 64].map((field) => [field, numberOf(options, field)])),
      ).toEqual({ 3: 1, 4: 1, 5: 1, 6: 1, 7: 1, 8: 1, 12: 1, 16: 1, 18: 1, 24: 1, 34: 4, 38: 0x4000_0000, 46: 1, 50: 1, 52: 1, 64: 2 });
      expect([textOf(options, 10), textOf(options, 13), textOf(options, 14)]).toEqual(["dump.log", harness.rootfs(), "../earlier"]);
      const server = messageOf(options, 11)!;
      expect([textOf(server, 1), numberOf(server, 2)]).toEqual(["::1", 1234]);
      expect(textOf(options, 44)).toBe(cgroupOf((await stateOf(name)).pid, "freezer"));
      expect((await stateOf(name)).status).toBe("running");
    });

    test("mounts from outside go by name: binds, masked files, not what the container has of its own", async () => {
      const data = join(harness.directory, `data-${count}`);
      mkdirSync(data);
      const { name } = await running((config) => {
        config.mounts = sampleConfig("containerd").mounts;
        config.mounts.push({ destination: "/mnt/data", type: "bind", source: data, options: ["bind"] });
        config.mounts.push({ destination: "/mnt/shm", type: "bind", source: "/dev/shm", options: ["bind"] });
        config.linux.maskedPaths = ["/proc/keys", "/sys/firmware"];
        config.linux.readonlyPaths = ["/proc/sys", "/mnt/data"];
      });
      await ok(["checkpoint", "--leave-running", "--image-path", images, name]);
      expect(pairs(requests()[0]!.options, 23).sort()).toEqual([
        ["/mnt/data", "/mnt/data"],
        ["/mnt/shm", "/mnt/shm"],
        ["/proc/keys", "/dev/null"],
      ]);
    });

    test("the streams are those of the start, whatever is there for a moment; they are names in the image", async () => {
      const { name } = await running((config) => shell(config, "exec >/dev/zero 2>&1 </dev/zero; exec sleep 1000"));
      await expect.poll(async () => readlinkSync(`/proc/${(await stateOf(name)).pid}/fd/1`)).toBe("/dev/zero");
      await ok(["checkpoint", "--leave-running", "--image-path", images, name]);
      const names: string[] = JSON.parse(readFileSync(join(images, "descriptors.json"), "utf8"));
      expect(names).toEqual(Array(3).fill(expect.stringMatching(/^file\[[0-9a-f]+:[0-9a-f]+\]$/)));
      expect(texts(requests()[0]!.options, 37).sort()).toEqual([...new Set(names)].sort());
    });

    test("a joined network namespace is named by its number", async () => {
      const network = await makeNetworkNamespace();
      try {
        const { name } = await running((config) => {
          config.linux.namespaces = config.linux.namespaces.map(({ type }) => ({
            type,
            ...(type === "network" && { path: network.file }),
          }));
        });
        await ok(["checkpoint", "--leave-running", "--image-path", images, name]);
        const number = /\d+/.exec(readlinkSync(network.file))?.[0];
        expect(texts(requests()[0]!.options, 37)).toContain(`net[${number}]:extRootNetNS`);
        await ok(["delete", "--force", name]);
        // The same namespace is locked already; another one is for criu to lock.
        for (const [file, empty] of [
          [network.file, 0],
          ["/proc/self/ns/net", 0x4000_0000],
        ] as const) {
          const again = id();
          const path = bundle((config) => {
            config.linux.namespaces = config.linux.namespaces.map(({ type }) => ({ type, ...(type === "network" && { path: file }) }));
          });
          await ok(["restore", "-d", "--image-path", images, "-b", path, again]);
          const { options } = requests().at(-1)!;
          expect(numberOf(options, 38)).toBe(empty);
          const inherited = (options.get(27) ?? []).map((value) => textOf(decodeMessage(value as Uint8Array), 1));
          expect(inherited).toContain("extRootNetNS");
        }
      } finally {
        network.end();
      }
    });

    test("--pre-dump asks first whether it can be, and lets the container go on", async () => {
      const { name } = await running();
      const refused = await runtime(["checkpoint", "--pre-dump", "--image-path", images, name]);
      expect([refused.status, refused.stderr]).toEqual([1, expect.stringContaining("cannot track changes of memory")]);
      await ok(["checkpoint", "--pre-dump", "--image-path", images, name], { FAKE_FEATURES: "mem" });
      expect(requests().map(({ type }) => type)).toEqual([TYPE.featureCheck, TYPE.featureCheck, TYPE.preDump]);
      expect(numberOf(requests()[2]!.options, 15)).toBe(1);
      expect((await stateOf(name)).status).toBe("running");
    });

    test("--status-fd gets a byte when a lazy dump is ready", async () => {
      const { name } = await running();
      const status = join(harness.directory, `status-${count}`);
      const fd = openSync(status, "w");
      const args = ["--criu", program("fake-criu"), "checkpoint", "--lazy-pages", "--status-fd", "3", "--image-path", images, name];
      expect(await harness.runtime(args, { ...fake.environment({ FAKE_FEATURES: "lazy" }), extra: [fd] })).toMatchObject({
        status: 0,
        stderr: "",
      });
      expect(readFileSync(status)).toEqual(Buffer.from([0]));
    });

    test.each([
      ["dump", "criu failed: type DUMP errno 52: mnt: the first of two: log file: "],
      ["die", "criu has ended without an answer"],
    ])("when it fails (%s) the container goes on", async (how, words) => {
      const { name } = await running();
      const failed = await runtime(["checkpoint", "--image-path", images, name], how === "die" ? { FAKE_FAIL: "die" } : { FAKE_FAIL: how });
      expect([failed.status, failed.stderr]).toEqual([1, expect.stringContaining(words)]);
      expect((await stateOf(name)).status).toBe("running");
      expect(await ok(["exec", name, "echo", "there"])).toBe("there\n");
    });

    test("only a started container", async () => {
      const name = id();
      await ok(["create", "-b", bundle((config) => shell(config, "true")), name]);
      const created = await runtime(["checkpoint", "--image-path", images, name]);
      expect(created.stderr).toContain("Container cannot be checkpointed in created state");
      await ok(["start", name]);
      await harness.until(name, "stopped");
      const stopped = await runtime(["checkpoint", "--image-path", images, name]);
      expect(stopped.stderr).toContain("Container cannot be checkpointed in stopped state");
      expect(requests()).toEqual([]);
    });
  });

  describe("restore", () => {
    function restoring(change: (config: Config) => void = () => {}): { name: string; path: string; args: string[] } {
      const [name, path] = [id(), bundle(change)];
      return { name, path, args: ["restore", "-d", "--image-path", images, "-b", path, name] };
    }

    test.skipIf(!hasControllers)("the container is the restored process, in its cgroup and with its limits", async () => {
      image();
      const { name, args } = restoring((config) => {
        config.linux.resources = { pids: { limit: 77 } };
      });
      const pidFile = join(harness.directory, `pid-${count}`);
      await ok([...args, "--pid-file", pidFile]);
      const { pid, status } = await stateOf(name);
      expect([status, readFileSync(pidFile, "utf8")]).toEqual(["running", String(pid)]);
      expect(readlinkSync(`/proc/${pid}/fd/1`)).toMatch(/\/call-\w+\.out$/);
      expect(readFileSync(`/proc/${pid}/comm`, "utf8")).toBe("sleep\n");
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
      const data = join(harness.directory, `data-${count}`);
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
      expect(isMounted(readFileSync(join(talk, "mounts"), "utf8"))).toBe(true);
      expect(isMounted(readFileSync("/proc/self/mountinfo", "utf8"))).toBe(false);
    });

    test("missing mount points are made inside the root, whatever its links say", async () => {
      image();
      const own = join(harness.directory, `rootfs-${count}`);
      const [data, outside] = [join(harness.directory, `data-${count}`), join(harness.directory, `outside-${count}`)];
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
      const log = join(harness.directory, `hooks-${count}`);
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
      const [socket, out] = [join(harness.directory, `console-${count}`), join(harness.directory, `console-${count}.out`)];
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
      const args = ["--criu", program("fake-criu"), "restore", "--image-path", images, "-b", path, name];
      const ended = harness.runtime(args, { ...fake.environment(), started: (child) => (monitor = child.pid) });
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
      const args = ["--criu", program("fake-criu"), "restore", "--image-path", images, "-b", path, name];
      const ended = harness.runtime(args, { ...fake.environment(), started: (child) => (monitor = child.pid) });
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
      mkdirSync(images);
      const { args } = restoring();
      const failed = await runtime(args);
      expect(failed.stderr).toContain("descriptors.json: no such file or directory (--image-path names the directory of a checkpoint)");
      expect(requests()).toEqual([]);
    });

    test("while criu works the container is being created, and kill says that it does not run", async () => {
      image();
      const wait = join(harness.directory, `go-${count}`);
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
      const failed = await runtime(["restore", "-d", "--image-path", images, "-b", path, name]);
      expect(failed.stderr).toContain("container with given ID already exists");
      expect((await stateOf(name)).status).toBe("running");
    });
  });

  describe("before anything is done", () => {
    test("no criu, and one that is too old", async () => {
      const { name, path } = await running();
      const absent = await harness.runtime(["checkpoint", "--image-path", images, name], { env: { PATH: harness.directory } });
      expect(absent.stderr).toContain("checkpoint and restore need criu: criu: not found (install the package criu");
      const old = await runtime(["checkpoint", "--image-path", images, name], { FAKE_VERSION: "2.12.0" });
      expect(old.stderr).toContain("is version 2.12.0, and 3.0.0 or newer is needed");
      const labels = await runtime(["restore", "-d", "--lsm-profile", "apparmor:x", "--image-path", images, "-b", path, `${name}x`], {
        FAKE_VERSION: "3.15.0",
      });
      expect(labels.stderr).toContain("3.16.0 or newer is needed");
      expect(existsSync(images)).toBe(false);
    });

    test.each([
      [["checkpoint", "--parent-path", "/absolute", "ID"], "--parent-path must be relative to --image-path"],
      [["checkpoint", "--parent-path", "../missing", "ID"], "--parent-path ../missing: not found"],
      [["checkpoint", "--page-server", "nowhere", "ID"], "use ADDRESS:PORT"],
      [["checkpoint", "--manage-cgroups-mode", "some", "ID"], "use soft, full, strict, ignore"],
      [["checkpoint", "--empty-ns", "pid", "ID"], "use network"],
      [["checkpoint", "--status-fd", "77", "ID"], "--status-fd 77: bad file descriptor"],
    ])("%j is refused", async (args, words) => {
      const { name } = await running();
      const refused = await runtime(args.map((word) => (word === "ID" ? name : word)));
      expect([refused.status, refused.stderr]).toEqual([1, expect.stringContaining(words)]);
      expect(requests()).toEqual([]);
    });

    test("the probes of Podman and CRI-O", async () => {
      expect((await harness.runtime(["checkpoint", "--help"])).status).toBe(0);
      expect((await harness.runtime(["restore", "--lsm-mount-context"])).stderr).toContain("flag needs an argument");
    });

    test("features tell whether criu is there", async () => {
      const claim = async (env: Readonly<Record<string, string>>) =>
        JSON.parse((await harness.runtime(["features"], { env })).stdout).annotations["org.opencontainers.runc.checkpoint.enabled"];
      expect(await claim({ PATH: harness.directory })).toBe("false");
      symlinkSync(program("fake-criu"), join(talk, "criu"));
      expect(await claim({ PATH: talk })).toBe("true");
    });
  });
});

function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}
