/**
 * checkpoint against a criu that only speaks its protocol (test/probe/fake-criu.c): what it is asked, and what runt makes of its answers. What a real
 * one does with it is shown in the guest (test/guest/cases/checkpoint.test.ts).
 */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { decodeMessage, messageOf, numberOf, textOf } from "../../src/runtime/criu/protobuf.ts";
import { cgroupOf } from "../support/cgroups.ts";
import { sampleConfig } from "../support/config.ts";
import { useDumps } from "../support/dumps.ts";
import { pairs, TYPE, texts } from "../support/fake-criu.ts";
import { isRoot, isRunt, shell, useHarness } from "../support/harness.ts";
import { makeNetworkNamespace } from "../support/network-namespace.ts";
import { program } from "../support/programs.ts";

const NETWORK_LOCK = 64;
const NFTABLES = 2;

describe.skipIf(!(isRunt && isRoot))("checkpoint, as criu sees it (needs root)", () => {
  const harness = useHarness();
  const { bundle, id } = harness;
  const { count, environment, images, ok, requests, running, runtime, stateOf, talk } = useDumps(harness);

  test("the container is gone afterwards, with its cgroup and its state", async () => {
    const { name } = await running();
    const { pid } = await stateOf(name);
    const cgroup = cgroupOf(pid, "memory");
    expect(await ok(["checkpoint", "--image-path", images(), name])).toBe("");
    expect((await runtime(["state", name])).stderr).toContain("container does not exist");
    expect([existsSync(cgroup), existsSync(`/proc/${pid}`) && statSync(`/proc/${pid}`).isDirectory() && isAlive(pid)]).toEqual([
      false,
      false,
    ]);
    const [request, ...others] = requests();
    expect(others).toEqual([]);
    expect(request?.type).toBe(TYPE.dump);
    expect(numberOf(request!.options, 2)).toBe(pid);
    expect(statSync(images()).mode & 0o777).toBe(0o700);
  });

  test("every flag reaches it", async () => {
    const { name } = await running();
    mkdirSync(join(images(), "../earlier"), { recursive: true });
    const on = ["tcp-established", "ext-unix-sk", "shell-job", "file-locks", "auto-dedup", "link-remap", "tcp-skip-in-flight", "tcp-close"];
    const words = [...on.map((flag) => `--${flag}`), "--manage-cgroups-mode", "full", "--empty-ns", "network", "--network-lock=nftables"];
    const paths = ["--image-path", images(), "--work-path", `${images()}-work`, "--parent-path", "../earlier"];
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
    const data = join(harness.directory, `data-${count()}`);
    mkdirSync(data);
    const { name } = await running((config) => {
      config.mounts = sampleConfig("containerd").mounts;
      config.mounts.push({ destination: "/mnt/data", type: "bind", source: data, options: ["bind"] });
      config.mounts.push({ destination: "/mnt/shm", type: "bind", source: "/dev/shm", options: ["bind"] });
      config.linux.maskedPaths = ["/proc/keys", "/sys/firmware"];
      config.linux.readonlyPaths = ["/proc/sys", "/mnt/data"];
    });
    await ok(["checkpoint", "--leave-running", "--image-path", images(), name]);
    expect(pairs(requests()[0]!.options, 23).sort()).toEqual([
      ["/mnt/data", "/mnt/data"],
      ["/mnt/shm", "/mnt/shm"],
      ["/proc/keys", "/dev/null"],
    ]);
  });

  test("the streams are those of the start, whatever is there for a moment; they are names in the image", async () => {
    const { name } = await running((config) => shell(config, "exec >/dev/zero 2>&1 </dev/zero; exec sleep 1000"));
    await expect.poll(async () => readlinkSync(`/proc/${(await stateOf(name)).pid}/fd/1`)).toBe("/dev/zero");
    await ok(["checkpoint", "--leave-running", "--image-path", images(), name]);
    const names: string[] = JSON.parse(readFileSync(join(images(), "descriptors.json"), "utf8"));
    expect(names).toEqual(Array(3).fill(expect.stringMatching(/^file\[[0-9a-f]+:[0-9a-f]+\]$/)));
    expect(texts(requests()[0]!.options, 37).sort()).toEqual([...new Set(names)].sort());
  });

  test.each(["FIFO", "hard link"])("a %s in the place of descriptors.json is replaced, and neither opened nor emptied", async (kind) => {
    const { name } = await running();
    const precious = join(harness.directory, `precious-${count()}`);
    mkdirSync(images());
    writeFileSync(precious, "precious");
    const path = join(images(), "descriptors.json");
    if (kind === "FIFO") execFileSync("mkfifo", [path]);
    else linkSync(precious, path);
    await ok(["checkpoint", "--leave-running", "--image-path", images(), name]);
    expect(JSON.parse(readFileSync(path, "utf8"))).toHaveLength(3);
    expect(statSync(path)).toMatchObject({ nlink: 1 });
    expect(readFileSync(precious, "utf8")).toBe("precious");
    expect(readdirSync(images()).filter((entry) => entry.startsWith("descriptors"))).toEqual(["descriptors.json"]);
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
      await ok(["checkpoint", "--leave-running", "--image-path", images(), name]);
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
        await ok(["restore", "-d", "--image-path", images(), "-b", path, again]);
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
    const refused = await runtime(["checkpoint", "--pre-dump", "--image-path", images(), name]);
    expect([refused.status, refused.stderr]).toEqual([1, expect.stringContaining("cannot track changes of memory")]);
    await ok(["checkpoint", "--pre-dump", "--image-path", images(), name], { FAKE_FEATURES: "mem" });
    expect(requests().map(({ type }) => type)).toEqual([TYPE.featureCheck, TYPE.featureCheck, TYPE.preDump]);
    expect(numberOf(requests()[2]!.options, 15)).toBe(1);
    expect((await stateOf(name)).status).toBe("running");
  });

  test("--status-fd gets a byte when a lazy dump is ready", async () => {
    const { name } = await running();
    const status = join(harness.directory, `status-${count()}`);
    const fd = openSync(status, "w");
    const args = ["--criu", program("fake-criu"), "checkpoint", "--lazy-pages", "--status-fd", "3", "--image-path", images(), name];
    expect(await harness.runtime(args, { ...environment({ FAKE_FEATURES: "lazy" }), extra: [fd] })).toMatchObject({
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
    const failed = await runtime(["checkpoint", "--image-path", images(), name], how === "die" ? { FAKE_FAIL: "die" } : { FAKE_FAIL: how });
    expect([failed.status, failed.stderr]).toEqual([1, expect.stringContaining(words)]);
    expect((await stateOf(name)).status).toBe("running");
    expect(await ok(["exec", name, "echo", "there"])).toBe("there\n");
  });

  test("only a started container", async () => {
    const name = id();
    await ok(["create", "-b", bundle((config) => shell(config, "true")), name]);
    const created = await runtime(["checkpoint", "--image-path", images(), name]);
    expect(created.stderr).toContain("Container cannot be checkpointed in created state");
    await ok(["start", name]);
    await harness.until(name, "stopped");
    const stopped = await runtime(["checkpoint", "--image-path", images(), name]);
    expect(stopped.stderr).toContain("Container cannot be checkpointed in stopped state");
    expect(requests()).toEqual([]);
  });

  test("a checkpoint locks the network by nftables where there is no iptables-restore", async () => {
    const { name } = await running();
    const programs = join(harness.directory, `programs-${count()}`);
    mkdirSync(programs);
    const lock = async () => {
      await ok(["checkpoint", "--leave-running", "--image-path", images(), name], { PATH: programs });
      return numberOf(requests().at(-1)!.options, NETWORK_LOCK);
    };
    expect(await lock()).toBe(NFTABLES);
    writeFileSync(join(programs, "iptables-restore"), "#!/bin/sh\n");
    chmodSync(join(programs, "iptables-restore"), 0o755);
    expect(await lock()).toBeUndefined();
  });

  describe("before anything is done", () => {
    test("no criu, and one that is too old", async () => {
      const { name, path } = await running();
      const absent = await harness.runtime(["checkpoint", "--image-path", images(), name], { env: { PATH: harness.directory } });
      expect(absent.stderr).toContain("checkpoint and restore need criu: criu: not found (install the package criu");
      const old = await runtime(["checkpoint", "--image-path", images(), name], { FAKE_VERSION: "2.12.0" });
      expect(old.stderr).toContain("is version 2.12.0, and 3.0.0 or newer is needed");
      const labels = await runtime(["restore", "-d", "--lsm-profile", "apparmor:x", "--image-path", images(), "-b", path, `${name}x`], {
        FAKE_VERSION: "3.15.0",
      });
      expect(labels.stderr).toContain("3.16.0 or newer is needed");
      expect(existsSync(images())).toBe(false);
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
      symlinkSync(program("fake-criu"), join(talk(), "criu"));
      expect(await claim({ PATH: talk() })).toBe("true");
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
