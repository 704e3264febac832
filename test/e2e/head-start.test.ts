/** The head start (docs/startup.md): when the helper is started, what it makes, and that it goes when it is cancelled. */
import { existsSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isHybrid, isUnified, UNIFIED_BESIDE } from "../support/cgroups.ts";
import { call, isRoot, isRunt, isSwitchedOff, RUNTIME, shell, useHarness } from "../support/harness.ts";

const isDisabled = isSwitchedOff("head-start");
const STRACE = "/usr/bin/strace";
/** The runtime does not wait for the helper's execve, as a vfork would. So their order is not known. */
const STARTED = /clone\(child_stack=\w+, flags=CLONE_VM\|CLONE_CHILD_CLEARTID/;

/** Helpers that wait for a plan, of calls that work in this directory. */
function waitingHelpers(directory: string): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const [program, verb, , mode] = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
        const parent = /^PPid:\t(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? "";
        const isOurs = readlinkSync(`/proc/${pid}/cwd`) === directory;
        return isOurs && program === "runt-init" && verb === "plan" && mode === "early" ? [`${pid} of ${parent}`] : [];
      } catch {
        return [];
      }
    });
}

describe.skipIf(!isRoot || !isRunt || !existsSync(STRACE) || isDisabled)(`the head start (needs root and ${STRACE})`, () => {
  const { bundle, directory, id, root, runtime } = useHarness();
  const here = { cwd: directory };

  async function trace(name: string, path: string, status = 0, within: readonly string[] = []): Promise<string[]> {
    const output = join(directory, `${name}.strace`);
    const command = [...within, STRACE, "-f", "-s", "300", "-o", output, RUNTIME, "--root", root, "run", "-b", path, name];
    const result = await call(directory, command, here);
    expect(result.status).toBe(status);
    return readFileSync(output, "utf8").split("\n");
  }

  const place = (lines: readonly string[], what: RegExp): number => lines.findIndex((line) => what.test(line));

  test("is started before config.json is looked at, and told of it before the plan", async () => {
    const path = bundle((config) => shell(config, "true"));
    const lines = await trace(id(), path);
    const started = place(lines, STARTED);
    const opened = place(lines, new RegExp(`"${path}/config.json"`));
    const told = place(lines, /sendmsg\(\d+, .*iov_base="\\16\\0/);
    expect(started).toBeGreaterThan(0);
    expect(opened).toBeGreaterThan(started);
    expect(told).toBeGreaterThan(opened);
    expect(place(lines, /memfd_create\("runt-plan"/)).toBeGreaterThan(told);
  });

  test.skipIf(isUnified)("the runtime reads the mounts once, and no helper does", async () => {
    const lines = await trace(
      id(),
      bundle((config) => shell(config, "true")),
    );
    const [runtimePid] = lines[0]!.split(" ");
    const readers = lines.filter((line) => line.includes('"/proc/self/mountinfo"')).map((line) => line.split(" ")[0]);
    expect(readers).toEqual([runtimePid]);
  });

  test("where it cannot be started another is, with the plan", async () => {
    const path = bundle((config) => shell(config, "echo here"));
    const refuse = ["-e", "inject=clone:error=EAGAIN:when=1", "-o", join(directory, "refused.strace")];
    const { status, stdout } = await call(directory, [STRACE, "-f", ...refuse, RUNTIME, "--root", root, "run", "-b", path, id()]);
    expect({ status, stdout }).toEqual({ status: 0, stdout: "here\n" });
    expect(readFileSync(join(directory, "refused.strace"), "utf8")).toContain("EAGAIN (Resource temporarily unavailable) (INJECTED)");
  });

  test.each([
    ["the bundle is missing", ["create", "-b", "/nonexistent", "never"]],
    ["an option is wrong", ["--cgroup-manager", "none", "create", "-b", "/nonexistent", "never"]],
    ["the id is none", ["create", "-b", "/nonexistent", "no/id"]],
  ])("is gone when %s", async (_, words) => {
    const before = waitingHelpers(directory);
    const output = join(directory, "wrong.strace");
    const { status } = await call(directory, [STRACE, "-f", "-o", output, RUNTIME, "--root", root, ...words], here);
    expect(status).toBe(1);
    expect(place(readFileSync(output, "utf8").split("\n"), STARTED)).toBeGreaterThan(0);
    expect(waitingHelpers(directory)).toEqual(before);
  });

  test("is gone when config.json is no JSON, or another thing than is expected", async () => {
    const path = bundle((config) => shell(config, "true"));
    const before = waitingHelpers(directory);
    const shapes = ["{", "null", "7", '"namespaces"', "[]", "{}", '{"linux": 1}', '{"linux": {"namespaces": {"type": "pid"}}}'];
    shapes.push('{"linux": {"namespaces": [null, 1, {"type": "network", "path": {}}]}, "mounts": [null, {"type": {}}], "hooks": 3}');
    for (const text of shapes) {
      writeFileSync(join(path, "config.json"), text);
      const { status, stderr } = await runtime(["create", "-b", path, "never"], here);
      expect({ text, status }).toEqual({ text, status: 1 });
      expect(stderr).not.toContain("internal");
    }
    expect(waitingHelpers(directory)).toEqual(before);
    expect(existsSync(join(root, "never"))).toBe(false);
  });

  const UNSHARED = /unshare\([A-Z_|]*CLONE_NEWNET/;

  test("is started before anything is written, makes namespaces, and gets the plan later", async () => {
    const name = id();
    const lines = await trace(
      name,
      bundle((config) => shell(config, "cat /sys/class/net/lo/flags")),
    );
    const started = place(lines, STARTED);
    const reserved = place(lines, new RegExp(`mkdir\\("${root}/${name}"`));
    expect(started).toBeGreaterThan(0);
    expect(reserved).toBeGreaterThan(started);
    expect(place(lines, /execveat\(\d+, "", \["runt-init", "plan", "\d+", "early"/)).toBeGreaterThan(started);
    const unshared = place(lines, UNSHARED);
    expect(unshared).toBeGreaterThan(started);
    const clone = lines.find((line) => line.includes("clone3({flags=CLONE_PARENT"));
    // On cgroup v2, and on a hybrid host, the clone waits for the cgroup: the helper makes the other namespaces before, too.
    if (isUnified || isHybrid) {
      expect(lines[unshared]).toMatch(/CLONE_NEWNS.*CLONE_NEWPID/);
      expect(clone).toContain("CLONE_INTO_CGROUP");
      expect(clone).not.toContain("CLONE_NEW");
    } else {
      expect(clone).toContain("CLONE_NEWNS");
      expect(clone).not.toContain("CLONE_NEWNET");
    }
  });

  test("the kernel lists the mounts in the order of the configuration", async () => {
    const places: string[] = [];
    const path = bundle((config) => {
      shell(config, "cat /proc/self/mountinfo");
      places.push(...config.mounts.map(({ destination }) => destination));
    });
    const listed = (await runtime(["run", "-b", path, id()])).stdout.split("\n").map((line) => line.split(" ")[4] ?? "");
    expect(listed.filter((place) => places.includes(place))).toEqual(places);
  });

  test.each([
    ["the host's network", (types: string[]) => types.filter((type) => type !== "network")],
    ["a user namespace", (types: string[]) => [...types, "user"]],
  ])("makes no network namespace with %s", async (_, change) => {
    const lines = await trace(
      id(),
      bundle((config) => {
        shell(config, "true");
        const types = change((config.linux.namespaces as { type: string }[]).map(({ type }) => type));
        config.linux.namespaces = types.map((type) => ({ type }));
        if (types.includes("user")) {
          const mappings = [{ containerID: 0, hostID: 0, size: 65_536 }];
          Object.assign(config.linux, { uidMappings: mappings, gidMappings: mappings });
        }
        config.mounts = config.mounts?.filter(({ type }) => type !== "sysfs");
      }),
    );
    expect(place(lines, UNSHARED)).toBe(-1);
  });

  /** Where a hybrid host shows the hierarchies of v1 alone. */
  const WITHOUT_V2 = isHybrid
    ? ["unshare", "--mount", "--propagation", "private", "sh", "-c", `umount ${UNIFIED_BESIDE} && exec "$@"`, "sh"]
    : [];

  test.skipIf(isUnified)("init is there before the plan, unless something has to be done before it", async () => {
    const path = bundle((config) => shell(config, "true"));
    const messages = (lines: readonly string[]) => {
      const clone = place(lines, /clone3\(\{flags=CLONE_PARENT/);
      const intermediate = lines[clone]!.split(" ")[0]!;
      return lines.slice(0, clone).filter((line) => line.startsWith(`${intermediate} `) && line.includes("recvmsg(")).length;
    };
    // Of the namespaces alone: the intermediate has told of init and ended before there was a plan.
    expect(messages(await trace(id(), path, 0, WITHOUT_V2))).toBe(1);
    const timed = bundle((config) => {
      shell(config, "true");
      (config.linux.namespaces as { type: string }[]).push({ type: "time" });
    });
    expect(messages(await trace(id(), timed, 0, WITHOUT_V2))).toBe(2);
  });

  test("the usual file systems are made before the plan, and those that the plan wants otherwise anew", async () => {
    const usual = bundle((config) => shell(config, "true"));
    const made = (lines: readonly string[]) => lines.filter((line) => line.includes("fsopen(")).length;
    const ordinary = await trace(id(), usual);
    const other = bundle((config) => {
      shell(config, "grep ' /dev/pts ' /proc/self/mountinfo; grep ' /dev/shm ' /proc/self/mountinfo");
      for (const mount of config.mounts ?? []) {
        if (mount.destination === "/dev/pts")
          mount.options = (mount.options ?? []).map((option) => option.replace("mode=0620", "mode=0600"));
        if (mount.destination === "/dev/shm") mount.options = ["size=4096k"];
      }
    });
    const changed = await trace(id(), other);
    // Those two were made twice.
    expect(made(changed)).toBe(made(ordinary) + 2);
    const { stdout } = await runtime(["run", "-b", other, id()], here);
    expect(stdout).toMatch(/ \/dev\/pts .*mode=600/);
    expect(stdout).toMatch(/ \/dev\/shm rw,relatime .*size=4096k/);
  });

  test("they show the namespaces of the container", async () => {
    const path = bundle((config) => shell(config, "echo $$ /proc/[0-9]* /sys/class/net/*"));
    const { status, stdout } = await runtime(["run", "-b", path, id()], here);
    expect({ status, stdout }).toEqual({ status: 0, stdout: "1 /proc/1 /sys/class/net/lo\n" });
  });

  test("what it has made for nothing is no way out of the masks", async () => {
    for (let fd = 3; fd < 20; fd++) {
      const path = bundle((config) => {
        shell(config, "true");
        config.process.cwd = `/proc/self/fd/${fd}`;
        // Another /proc and /sys than the usual ones, which are made all the same.
        for (const mount of config.mounts ?? []) if (/^\/(proc|sys)$/.test(mount.destination)) mount.options = ["nosuid"];
      });
      const { status } = await runtime(["run", "-b", path, id()], here);
      expect({ fd, status }).not.toEqual({ fd, status: 0 });
    }
  });

  test("an init that was made for nothing is gone, too", async () => {
    const name = id();
    const path = bundle((config) => {
      shell(config, "sleep 60");
      config.linux.cgroupsPath = `/${name}`;
    });
    await runtime(["run", "--detach", "-b", path, name]);
    const before = waitingHelpers(directory);
    // Another container of the same cgroup is refused when init has the plan already.
    await trace(`${name}-2`, path, 1);
    expect(waitingHelpers(directory)).toEqual(before);
    expect(existsSync(join(root, `${name}-2`))).toBe(false);
    await runtime(["delete", "--force", name]);
  });

  const cpus = /^Cpus_allowed_list:\t(.*)$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? "";
  const first = cpus.split(/[,-]/)[0] ?? "0";
  test.each([
    ["all of them", []],
    ["one", ["taskset", "-c", first]],
  ])("the container has every processor when its caller has %s", async (_, before) => {
    const path = bundle((config) => shell(config, "grep Cpus_allowed_list /proc/self/status"));
    const { status, stdout } = await call(directory, [...before, RUNTIME, "--root", root, "run", "-b", path, id()]);
    expect({ status, stdout }).toEqual({ status: 0, stdout: `Cpus_allowed_list:\t${cpus}\n` });
  });

  test("is gone when the command fails before it has a plan", async () => {
    const name = id();
    const path = bundle((config) => shell(config, "sleep 60"));
    await runtime(["create", "-b", path, name], here);
    const before = waitingHelpers(directory);
    const lines = await trace(name, path, 1);
    expect(place(lines, STARTED)).toBeGreaterThan(0);
    expect(waitingHelpers(directory)).toEqual(before);
    await runtime(["delete", "--force", name]);
  });
});
