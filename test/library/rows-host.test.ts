/** Rows X1 to X6, X35 and X36: host, construction, state directory, configuration. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { CAPABILITIES, candidates, ExecutorError, hostCapabilities, locateRuntime, Runtime, toConfig } from "../../src/executor/index.ts";
import { isUnified } from "../support/cgroups.ts";
import { CGROUP_PARENT, isGone, isRoot, RUNT, row, statusField, until, useExecutors, wrapper } from "./support.ts";

describe.skipIf(!isRoot)("executor: host and state (needs root)", () => {
  const { directory, executor, script, stateDir } = useExecutors();

  row(
    "X1",
    "the capability list of the host ends with the kernel's last capability, equals that of a container with all capabilities, and needs no file",
    async () => {
      const last = Number(readFileSync("/proc/sys/kernel/cap_last_cap", "utf8"));
      const names = hostCapabilities();
      expect(names).toHaveLength(last + 1);
      const one = executor();
      const { pid } = await one.launch(
        script("sleep 1000", { capabilities: names.filter((name) => (CAPABILITIES as readonly string[]).includes(name)) }),
      );
      // What this process may not hand on (a machine may have taken it away), the container cannot have.
      const held = (status: number) => names.filter((_, bit) => (BigInt(`0x${statusField(status, "CapBnd")}`) >> BigInt(bit)) & 1n);
      expect(held(pid)).toEqual(held(process.pid).filter((name) => !/^CAP_\d/.test(name)));
      const features = (await new Runtime().features()) as { linux: { capabilities: string[] } };
      expect(features.linux.capabilities).toEqual(expect.arrayContaining([...names].filter((name) => !/^CAP_\d/.test(name))));
      // A kernel without the file, and one that knows more than this library.
      const fake = (path: string) => {
        if (path.endsWith("cap_last_cap")) throw new Error("ENOENT");
        return "CapBnd:\t000003ffffffffff\n";
      };
      expect(hostCapabilities(fake).slice(-2)).toEqual(["CAP_CHECKPOINT_RESTORE", "CAP_41"]);
    },
  );

  row("X2", "two executors with one id never collide, and a bad id is refused before anything is made", async () => {
    const one = executor();
    const { pid } = await one.launch(script("sleep 1000"));
    const other = executor({ id: one.id });
    await expect(other.launch(script("sleep 1000"))).rejects.toMatchObject({ code: "id-exists" });
    expect(existsSync(`/proc/${pid}`)).toBe(true);
    expect(one.state).toBe("running");
    for (const id of ["", "..", "a/b", "a b", "é", "x".repeat(300)]) {
      expect(() => executor({ id, stateDir: join(directory, "never") })).toThrow(ExecutorError);
    }
    expect(existsSync(join(directory, "never"))).toBe(false);
  });

  row(
    "X3",
    "if the runtime is missing, the error names the searched places and nothing is made; events do not contain arguments or environment",
    async () => {
      const places = candidates({ RUNT_BINARY: "/nowhere/runt", PATH: "/nowhere/bin:/usr/nowhere" });
      expect(places).toEqual([RUNT, "/nowhere/runt", "/nowhere/bin/runt", "/usr/nowhere/runt"]);
      expect(() => locateRuntime(places.slice(1))).toThrow(/tried \/nowhere\/runt, \/nowhere\/bin\/runt, \/usr\/nowhere\/runt/);
      const never = join(directory, "never");
      expect(() => executor({ binary: "/nowhere/runt", stateDir: never })).toThrow(/\/nowhere\/runt/);
      const foreign = wrapper(directory, "other", "echo runt version 9.9.9");
      expect(() => executor({ binary: foreign, stateDir: never })).toThrow(/is runt 9\.9\.9, this library needs/);
      expect(existsSync(never)).toBe(false);

      const events: unknown[] = [];
      await executor({ onEvent: (event) => events.push(event) }).launch(script("sleep 1000 # s3cret", { env: { TOKEN: "s3cret" } }));
      expect(events).toContainEqual(expect.objectContaining({ type: "launch", cmd: "/bin/sh", binary: RUNT }));
      expect(JSON.stringify(events)).not.toContain("s3cret");
    },
  );

  row("X4, X36", "started in a nested cgroup, the container has the requested cgroup, and the caller stays in its own", async () => {
    const hierarchy = isUnified ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
    const nested = `${hierarchy}${CGROUP_PARENT}/nested`;
    mkdirSync(nested, { recursive: true });
    try {
      const here = readFileSync("/proc/self/cgroup", "utf8");
      const binary = wrapper(directory, "nested", `echo $$ > ${nested}/cgroup.procs && exec ${RUNT} "$@"`);
      const one = executor({ binary });
      const { pid } = await one.launch(script("sleep 1000"));
      for (const line of readFileSync(`/proc/${pid}/cgroup`, "utf8").trim().split("\n")) {
        const path = line.split(":").slice(2).join(":");
        // What has no controllers here is left alone (the cgroup2 mount of a v1 host).
        if (path !== "/" && !/^0::/.test(line)) expect(path).toBe(`${CGROUP_PARENT}/${one.id}`);
      }
      expect(readFileSync("/proc/self/cgroup", "utf8")).toBe(here);
      const monitor = JSON.parse(readFileSync(join(stateDir, one.id, "record.json"), "utf8")).monitor.pid;
      expect(readFileSync(`/proc/${monitor}/cgroup`, "utf8")).toContain(`${CGROUP_PARENT}/nested`);
      await one.shutdown({ graceMs: 0 });
      // It has nothing more to do than to end.
      await until(() => isGone(monitor));
    } finally {
      rmdirSync(nested);
      rmdirSync(`${hierarchy}${CGROUP_PARENT}`);
    }
  });

  row("X5", "two state directories see only their own executors", async () => {
    const one = executor();
    await one.launch(script("sleep 1000"));
    const other = executor({ stateDir: join(directory, "others") });
    await other.launch(script("sleep 1000"));
    const ids = async (state: string) => (await new Runtime({ root: join(state, "@runtime") }).list()).map(({ id }) => id);
    expect(await ids(stateDir)).toEqual([one.id]);
    expect(await ids(join(directory, "others"))).toEqual([other.id]);
  });

  row("X6", "a container that cannot be created is an error with its code and place, and leaves no state", async () => {
    const bundle = join(directory, "broken");
    mkdirSync(bundle);
    const config = toConfig(script("true"), {
      id: "broken",
      user: { uid: 0, gid: 0, additionalGids: [] },
      cgroupVersion: isUnified ? 2 : 1,
    });
    writeFileSync(join(bundle, "config.json"), JSON.stringify({ ...config, root: { path: join(directory, "absent") } }));
    const runtime = new Runtime({ root: join(directory, "broken-root") });
    await expect(runtime.create("broken", { bundle })).rejects.toMatchObject({
      name: "RuntimeError",
      verb: "create",
      pointer: "/root/path",
    });
    expect(existsSync(join(directory, "broken-root")) ? readdirSync(join(directory, "broken-root")) : []).toEqual([]);
  });

  row("X35", "the configuration is a pure function of the launch (golden file)", async () => {
    const command = script("exit 3", {
      rootfs: "/rootfs",
      cgroupParent: "/parent",
      hostname: "golden",
      env: { A: "b=c=d" },
      resources: { memoryBytes: 32 << 20, cpuShares: 512, cpus: 0.5, pids: 10 },
      devices: [{ path: "/dev/fuse", type: "c", major: 10, minor: 229 }],
      mounts: [{ destination: "/data", source: "/srv", type: "bind", options: ["rbind", "ro"] }],
      namespaces: { network: "host" },
      capabilities: { ambient: ["CAP_NET_BIND_SERVICE"] },
    });
    const user = { uid: 1000, gid: 1000, additionalGids: [5], home: "/home/user" };
    const config = toConfig(command, { id: "golden", user, cgroupVersion: 1 });
    await expect(`${JSON.stringify(config, null, 2)}\n`).toMatchFileSnapshot("../golden/library/config.json");
    expect(toConfig(command, { id: "golden", user, cgroupVersion: 1 })).toEqual(config);
  });

  row("X36", "a limit whose controller is not mounted is an error that names this limit, and nothing is left", async () => {
    const without = isUnified ? "umount /sys/fs/cgroup" : "umount /sys/fs/cgroup/pids";
    const inner = wrapper(directory, "without-inner", `${without} && exec ${RUNT} "$@"`);
    const binary = wrapper(directory, "without", `exec unshare --mount --propagation private ${inner} "$@"`);
    const one = executor({ binary });
    const failed = await one
      .launch(script("sleep 1000", { resources: { pids: 10, memoryBytes: 64 << 20 } }))
      .catch((error: Error) => error);
    expect(failed).toBeInstanceOf(ExecutorError);
    const { message } = failed as Error;
    if (!isUnified) {
      expect(message).toContain("pids");
      expect(message).not.toMatch(/memory|freezer|cpuacct/);
    }
    expect(existsSync(join(stateDir, one.id))).toBe(false);
  });
});
