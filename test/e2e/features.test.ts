/** The program sees what config.json asks for. */
import { mkdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { hasControllers } from "../support/cgroups.ts";
import type { Config } from "../support/config.ts";
import { isRoot, isRunt, shell, useHarness } from "../support/harness.ts";

describe.skipIf(!isRoot)("container features (needs root)", () => {
  const { bundle, directory, id, ok, runtime, until } = useHarness();
  const output = (command: string, change: (config: Config) => void = () => {}) =>
    ok([
      "run",
      "-b",
      bundle((config) => {
        shell(config, command);
        change(config);
      }),
      id(),
    ]);

  const cases: readonly (readonly [string, string, (config: Config) => void, string | RegExp])[] = [
    ["hostname", "hostname", (config) => Object.assign(config, { hostname: "given" }), "given\n"],
    [
      "sysctl, dotted",
      "cat /proc/sys/net/ipv4/ip_forward",
      (config) => Object.assign(config.linux, { sysctl: { "net.ipv4.ip_forward": "1" } }),
      "1\n",
    ],
    [
      "sysctl, slashed",
      "cat /proc/sys/kernel/shm_rmid_forced",
      (config) => Object.assign(config.linux, { sysctl: { "kernel/shm_rmid_forced": "1" } }),
      "1\n",
    ],
    [
      "rlimits",
      "ulimit -Sn; ulimit -Hn; ulimit -Sc",
      (config) => {
        config.process.rlimits = [
          { type: "RLIMIT_NOFILE", soft: 100, hard: 200 },
          { type: "RLIMIT_CORE", soft: 0, hard: 0 },
        ];
      },
      "100\n200\n0\n",
    ],
    [
      "user and groups",
      "id -u; id -g; id -G",
      (config) => Object.assign(config.process, { user: { uid: 1000, gid: 1001, additionalGids: [5, 6] } }),
      "1000\n1001\n1001 5 6\n",
    ],
    ["umask", "umask", (config) => Object.assign(config.process.user, { umask: 0o077 }), "0077\n"],
    ["umask by default", "umask", () => {}, "0022\n"],
    ["cwd", "pwd", (config) => Object.assign(config.process, { cwd: "/etc" }), "/etc\n"],
    ["HOME from the container's passwd", "echo $HOME", (config) => Object.assign(config.process.user, { uid: 1000 }), "/home/user\n"],
    ["HOME when given", "echo $HOME", (config) => config.process.env.push("HOME=/there"), "/there\n"],
    ["HOME of an unknown user", "echo $HOME", (config) => Object.assign(config.process.user, { uid: 4242 }), "/\n"],
    ["the last of two values in env wins", "echo $A", (config) => config.process.env.push("A=1", "A=2"), "2\n"],
    ["PATH lookup", "true", (config) => Object.assign(config.process, { args: ["busybox", "echo", "found"] }), "found\n"],
    ["no new privileges", "grep NoNewPrivs /proc/self/status", () => {}, "NoNewPrivs:\t1\n"],
    ["oom score", "cat /proc/self/oom_score_adj", (config) => Object.assign(config.process, { oomScoreAdj: 500 }), "500\n"],
    ["masked file", "cat /proc/keys; echo end", () => {}, "end\n"],
    ["masked directory", "ls /sys/firmware | wc -l", () => {}, "0\n"],
    ["read-only path", "echo 1 2>&1 > /proc/sys/kernel/hostname || true", () => {}, /Read-only file system|^$/],
    ["read-only root", "touch /x 2>&1 || true", () => {}, /Read-only file system/],
    ["pid namespace", "echo $$", () => {}, "1\n"],
    ["loopback is up", "cat /sys/class/net/lo/flags", () => {}, "0x9\n"],
    ["one network interface", "ls /sys/class/net", () => {}, "lo\n"],
    ["signals are not blocked", "grep SigBlk /proc/self/status", () => {}, /^SigBlk:\s0+\n$/],
  ];
  test.each(cases)("%s", async (_, command, change, expected) => {
    const text = await output(command, change);
    if (typeof expected === "string") expect(text).toBe(expected);
    else expect(text).toMatch(expected);
  });

  test("capabilities: five sets as given", async () => {
    const text = await output("grep Cap /proc/self/status", (config) => {
      config.process.capabilities = {
        bounding: ["CAP_CHOWN", "CAP_KILL", "CAP_SETUID"],
        effective: ["CAP_CHOWN"],
        permitted: ["CAP_CHOWN", "CAP_KILL"],
        inheritable: ["CAP_KILL"],
        ambient: ["CAP_KILL"],
      };
      config.process.user = { uid: 1000, gid: 1000 };
      config.process.noNewPrivileges = false;
    });
    const set = (name: string) => BigInt(`0x${new RegExp(`Cap${name}:\\s*(\\S+)`).exec(text)?.[1]}`);
    expect(set("Bnd")).toBe(0b10100001n);
    expect(set("Inh")).toBe(0b100000n);
    expect(set("Amb")).toBe(0b100000n);
    // execve of an ordinary file by an ordinary user keeps the ambient set only.
    expect(set("Prm")).toBe(0b100000n);
    expect(set("Eff")).toBe(0b100000n);
  });

  test("bind mounts: files and directories, read-only, recursive, propagation", async () => {
    const source = join(directory, "source");
    mkdirSync(join(source, "sub"), { recursive: true });
    writeFileSync(join(source, "file"), "from the host\n");
    const text = await output(
      "cat /mnt/file /run/one; touch /mnt/x 2>&1; touch /tmp/written; grep ' /mnt ' /proc/self/mountinfo | grep -c 'shared\\|master'; true",
      (config) => {
        config.mounts.push(
          { destination: "/mnt", type: "none", source, options: ["rbind", "ro", "rprivate"] },
          { destination: "/run", type: "tmpfs", source: "tmpfs" },
          { destination: "/run/one", type: "bind", source: join(source, "file"), options: ["bind"] },
          { destination: "/tmp", type: "bind", source: join(source, "sub"), options: ["bind", "rw"] },
        );
        config.root.readonly = false;
        config.root.path = ownRootfs();
      },
    );
    expect(text).toBe("from the host\nfrom the host\ntouch: /mnt/x: Read-only file system\n0\n");
    expect(readFileSync(join(source, "sub/written"), "utf8")).toBe("");
  });

  /** A root file system that may be written: only what a shell needs. */
  function ownRootfs(): string {
    const path = join(directory, `rootfs-${Math.random().toString(36).slice(2)}`);
    for (const name of ["bin", "proc", "dev", "sys", "tmp", "run", "etc"]) mkdirSync(join(path, name), { recursive: true });
    writeFileSync(join(path, "bin/busybox"), readFileSync("/bin/busybox"), { mode: 0o755 });
    for (const applet of ["sh", "cat", "touch", "grep", "ls", "id", "stat", "sleep"]) symlinkSync("busybox", join(path, "bin", applet));
    return path;
  }

  test("a user namespace with id maps", async () => {
    const text = await output("id -u; cat /proc/self/uid_map /proc/self/gid_map", (config) => {
      config.linux.namespaces.push({ type: "user" });
      config.linux.uidMappings = [{ containerID: 0, hostID: 100_000, size: 65_536 }];
      config.linux.gidMappings = [{ containerID: 0, hostID: 200_000, size: 65_536 }];
      config.root.readonly = false;
      // The repository may lie below a directory that the mapped root cannot enter.
      config.root.path = ownRootfs();
    });
    expect(text.replace(/ +/g, " ")).toBe("0\n 0 100000 65536\n 0 200000 65536\n");
  });

  test("a root file system that the mapped root cannot reach is an error with the reason", async () => {
    const hidden = join(directory, "hidden");
    mkdirSync(hidden, { mode: 0o700 });
    const path = bundle((config) => {
      config.linux.namespaces.push({ type: "user" });
      config.linux.uidMappings = [{ containerID: 0, hostID: 100_000, size: 65_536 }];
      config.linux.gidMappings = [{ containerID: 0, hostID: 100_000, size: 65_536 }];
      mkdirSync(join(hidden, "rootfs"));
      config.root.path = join(hidden, "rootfs");
    });
    const { status, stderr } = await runtime(["run", "-b", path, id()]);
    expect(status).toBe(1);
    expect(stderr).toContain("permission denied");
    if (isRunt) expect(stderr).toContain("must be searchable for the container's root user");
  });

  test("namespaces of another container are joined by path", async () => {
    const first = id();
    const pidFile = join(directory, first);
    await ok([
      "run",
      "-d",
      "--pid-file",
      pidFile,
      "-b",
      bundle((config) => {
        shell(config, "exec sleep 60");
        config.hostname = "the-first";
      }),
      first,
    ]);
    const pid = readFileSync(pidFile, "utf8");
    const second = id();
    const text = await ok([
      "run",
      "-b",
      bundle((config) => {
        shell(config, "hostname; for name in net ipc uts; do readlink /proc/self/ns/$name; done; ps | grep -c 'sleep 6[0]'");
        delete config.hostname;
        const joined = ["network", "ipc", "uts", "pid"];
        const file: Readonly<Record<string, string>> = { network: "net" };
        config.linux.namespaces = config.linux.namespaces.map(({ type }) => ({
          type,
          ...(joined.includes(type) && { path: `/proc/${pid}/ns/${file[type] ?? type}` }),
        }));
      }),
      second,
    ]);
    const links = ["net", "ipc", "uts"].map((name) => readlinkSync(`/proc/${pid}/ns/${name}`));
    expect(text).toBe(["the-first", ...links, "1", ""].join("\n"));
    await ok(["kill", first, "KILL"]);
    await until(first, "stopped");
  });

  test("without a PID namespace the death of init takes the rest along at kill -9", async () => {
    const name = id();
    const pidFile = join(directory, name);
    const path = bundle((config) => {
      shell(config, "sleep 61 & exec sleep 62");
      config.linux.namespaces = config.linux.namespaces.filter(({ type }) => type !== "pid");
    });
    await ok(["run", "-d", "--pid-file", pidFile, "-b", path, name]);
    await ok(["kill", name, "KILL"]);
    await until(name, "stopped");
    await ok(["delete", name]);
  });

  test.skipIf(!hasControllers)("limits arrive in the cgroup", async () => {
    const text = await ok(["run", "-b", bundle(() => {}, "limited"), id()]);
    expect(text).toMatch(/memory\.(limit_in_bytes|max): 67108864\n/);
    expect(text).toMatch(/pids\.max: 32\n/);
    expect(text).toMatch(/cpu\.cfs_quota_us: 50000\n|cpu\.max: 50000 100000\n/);
  });

  test("device rules hold", async () => {
    const text = await output("head -c 1 /dev/zero | wc -c; mknod /dev/vda b 254 0 && head -c 1 /dev/vda 2>&1 | head -n 1", (config) => {
      config.process.capabilities = { bounding: ["CAP_MKNOD"], effective: ["CAP_MKNOD"], permitted: ["CAP_MKNOD"] };
    });
    expect(text).toBe("1\nhead: /dev/vda: Operation not permitted\n");
  });

  test.skipIf(!isRunt || !hasControllers)("a container starts under a tiny memory limit", async () => {
    const text = await output("echo small", (config) => Object.assign(config.linux.resources, { memory: { limit: 4_194_304 } }));
    expect(text).toBe("small\n");
  });

  test("an environment variable of 128 KiB passes", async () => {
    const value = "x".repeat(128 * 1024 - 10);
    expect(await output("echo -n $BIG | wc -c", (config) => config.process.env.push(`BIG=${value}`))).toBe(`${value.length}\n`);
  });

  test("a config without hostname and with few namespaces works", async () => {
    const result = await runtime([
      "run",
      "-b",
      bundle((config) => {
        shell(config, "echo fine");
        delete config.hostname;
        config.linux.namespaces = [{ type: "mount" }, { type: "pid" }];
        config.mounts = config.mounts.filter(({ type }) => type !== "sysfs" && type !== "mqueue");
      }),
      id(),
    ]);
    expect(result).toEqual({ status: 0, stdout: "fine\n", stderr: "" });
  });
});
