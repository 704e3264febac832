/** What Kata Containers' conversion of config.json (docs/kata-annotations.md) does, as far as it takes a kernel or the command line: K1, K5 and so on. */
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import type { Config } from "../support/config.ts";
import { call, isRoot, isRunt, RUNTIME, shell, useHarness } from "../support/harness.ts";

const CRI = "io.kubernetes.cri";
const SETS = ["bounding", "effective", "permitted", "inheritable", "ambient"];

describe.skipIf(!isRoot || !isRunt)("rows of Kata Containers", () => {
  const { bundle, directory, id, ok, root, runtime, until } = useHarness();

  const staying = (change: (config: Config) => void = () => {}) =>
    bundle((config) => {
      shell(config, "exec sleep 60");
      change(config);
    });
  const printing = (command: string, change: (config: Config) => void = () => {}) =>
    bundle((config) => {
      shell(config, command);
      change(config);
    });
  const output = (path: string): Promise<string> => ok(["run", "-b", path, id()]);
  const stateOf = async (name: string) => JSON.parse(await ok(["state", name]));
  const annotated = (annotations: Record<string, string>) => (config: Config) => void Object.assign(config, { annotations });

  async function started(path: string, flags: readonly string[] = []): Promise<{ readonly name: string; readonly pid: number }> {
    const name = id();
    await ok([...flags, "run", "-d", "-b", path, name]);
    return { name, pid: (await stateOf(name)).pid };
  }

  /** Findings of `validate`: "code pointer". */
  async function findings(path: string): Promise<string[]> {
    const { stdout } = await runtime(["validate", "-f", "json", "-b", path]);
    return JSON.parse(stdout).findings.map(({ code, pointer }: { code: string; pointer: string }) => `${code} ${pointer}`);
  }

  test("K1: validate names the missing section", async () => {
    const path = bundle((config) => Reflect.deleteProperty(config, "linux"));
    expect(await findings(path)).toContain("linux-missing /linux");
  });

  test.each([
    ["containerd", `${CRI}.container-type`, `${CRI}.sandbox-id`, "sandbox"],
    ["cri-o", "io.kubernetes.cri-o.ContainerType", "io.kubernetes.cri-o.SandboxID", "sandbox"],
    ["dockershim", "io.kubernetes.docker.type", "io.kubernetes.sandbox.id", "podsandbox"],
  ])("K2, K3, K4: plan knows a sandbox and a container of %s", async (manager, typeKey, idKey, word) => {
    for (const [value, type] of [
      [word, "sandbox"],
      ["container", "container"],
    ]) {
      const path = bundle(annotated({ [typeKey!]: value!, [idKey!]: "p1" }));
      const plan = JSON.parse(await ok(["plan", "-f", "json", "-b", path, "c"]));
      expect(plan.sandbox).toMatchObject({ type, manager, id: "p1" });
      expect(await ok(["plan", "-b", path, "c"])).toMatch(new RegExp(`^ SANDBOX ${type} (of sandbox )?p1 \\(${manager}\\)`, "m"));
      const valid = new Ajv2020({ strict: false }).compile(JSON.parse(await ok(["schema", "plan"])));
      expect([valid(plan), valid.errors]).toEqual([true, null]);
    }
  });

  test("K5, K33: the words of the states, and what each allows", async () => {
    const valid = new Ajv2020({ strict: false }).compile(JSON.parse(await ok(["schema", "state"])));
    const name = id();
    const refused: Readonly<Record<string, readonly string[]>> = {
      created: ["resume"],
      running: ["start", "delete", "resume"],
      paused: ["start", "delete", "pause"],
      stopped: ["start", "pause", "resume", "kill"],
    };
    async function expectStatus(status: string): Promise<void> {
      await until(name, status);
      for (const verb of refused[status]!) {
        expect((await runtime([verb, name])).status, `${verb} of ${status}`).not.toBe(0);
        const state = await stateOf(name);
        expect(state.status).toBe(status);
        expect([valid(state), valid.errors]).toEqual([true, null]);
      }
    }
    await ok(["create", "-b", staying(), name]);
    await expectStatus("created");
    await ok(["start", name]);
    await expectStatus("running");
    await ok(["pause", name]);
    await expectStatus("paused");
    await ok(["resume", name]);
    await expectStatus("running");
    await ok(["kill", name, "KILL"]);
    await expectStatus("stopped");
  });

  test("K6, K19, K20: capabilities as a list are those of an object, and none are none", async () => {
    const status = (value: unknown) =>
      output(
        printing("grep -E 'Cap|NoNewPrivs' /proc/self/status", (config) => {
          config.process.capabilities = value as Config["process"]["capabilities"];
          config.process.user = { uid: 1, gid: 1 };
        }),
      );
    const list = ["CAP_KILL", "CAP_NET_RAW"];
    const asList = await status(list);
    expect(asList).toBe(await status(Object.fromEntries(SETS.map((set) => [set, list]))));
    // What is ambient is kept by a user who is not root.
    expect(asList).toMatch(/^CapEff:\s+0{12}2020$/m);
    const none = await status(undefined);
    expect(none.match(/^Cap\w+:\s+0{16}$/gm)).toHaveLength(5);
  });

  test("K7: an unknown field is a warning of validate, and nothing to create", async () => {
    const path = printing("echo fine", (config) => void Object.assign(config, { x: 1 }));
    expect(await findings(path)).toContain("field-unknown /x");
    expect(await output(path)).toBe("fine\n");
  });

  test("K9: the state directory is the flag's, then the environment's, then the usual one", async () => {
    const rootOf = async (command: readonly string[], env: Record<string, string>) => {
      const { stdout } = await call(directory, [...command, "check", "-f", "json"], { env: { USER: "", ...env } });
      return JSON.parse(stdout).caller.stateRoot;
    };
    const plan = await call(directory, [RUNTIME, "--root", "/a/./b/", "plan", "-b", bundle(), "c"], { env: { XDG_RUNTIME_DIR: "/x" } });
    expect(plan.stdout).toContain(" state.intent");
    expect(plan.stdout).toContain(" /a/b/c");
    expect(await rootOf(["unshare", "--map-root-user", RUNTIME], { XDG_RUNTIME_DIR: "/x" })).toBe("/x/runt");
    expect(await rootOf([RUNTIME], { XDG_RUNTIME_DIR: "/x" })).toBe("/run/runt");
  });

  test("K11: a failure is one line of JSON in the log, with its level, words, time, code and place", async () => {
    const log = join(directory, "k11.json");
    const path = bundle((config) => void Object.assign(config.process, { cwd: "relative" }));
    expect((await runtime(["--log", log, "--log-format", "json", "create", "-b", path, id()])).status).toBe(1);
    const lines = readFileSync(log, "utf8").trimEnd().split("\n");
    expect(lines).toHaveLength(1);
    const line = JSON.parse(lines[0]!);
    expect(Object.keys(line).slice(0, 5)).toEqual(["level", "msg", "time", "code", "pointer"]);
    expect(line).toMatchObject({ level: "error", pointer: "/process/cwd" });
  });

  test("K12: values with = in them arrive whole", async () => {
    const path = bundle((config) => {
      config.process.args = ["/bin/cat", "/proc/self/environ"];
      config.process.env.push("A=b=c=d", "E=", "F==");
    });
    expect((await output(path)).split("\0")).toEqual(expect.arrayContaining(["A=b=c=d", "E=", "F=="]));
  });

  test.each([["ro"], ["nosuid"], ["nodev"], ["noexec"], ["noatime"], ["nodiratime"], ["relatime"], ["nosymfollow"]])(
    "K13: the option %s is the flag in mountinfo",
    async (word) => {
      const mount = (options: string[]) =>
        printing("grep ' /mnt ' /proc/self/mountinfo", (config) =>
          config.mounts.push({ destination: "/mnt", type: "tmpfs", source: "tmpfs", options }),
        );
      const flags = (line: string) => line.split(" ")[5]!.split(",");
      expect(flags(await output(mount([word])))).toContain(word);
    },
  );

  test("K13: rro reaches what is mounted below a bind, data reaches the filesystem", async () => {
    const path = printing("grep -E ' /mnt| /opt ' /proc/self/mountinfo", (config) =>
      config.mounts.push(
        { destination: "/mnt", type: "bind", source: "/proc", options: ["rbind", "rro"] },
        { destination: "/opt", type: "tmpfs", source: "tmpfs", options: ["size=64k", "mode=711"] },
      ),
    );
    const lines = (await output(path)).trimEnd().split("\n");
    for (const line of lines.filter((text) => text.includes(" /mnt"))) expect(line.split(" ")[5]).toMatch(/^ro/);
    expect(lines.at(-1)).toMatch(/size=64k.*mode=711/);
  });

  test("K14: mounts come in their order: a, and then a/b on it", async () => {
    const tmpfs = (destination: string) => ({ destination, type: "tmpfs", source: "tmpfs" });
    const shown = (order: string[]) =>
      output(printing("awk '$5 ~ /^.mnt/ { print $5 }' /proc/self/mountinfo", (config) => config.mounts.push(...order.map(tmpfs))));
    expect(await shown(["/mnt", "/mnt/b"])).toBe("/mnt\n/mnt/b\n");
    // The second covers the first.
    expect(await shown(["/mnt", "/mnt"])).toBe("/mnt\n/mnt\n");
  });

  test("K16: nodes of every type, with owner and mode; others are refused", async () => {
    const nodes = [
      { type: "c", path: "/dev/k-c", major: 1, minor: 5, fileMode: 0o640, uid: 3, gid: 4 },
      { type: "u", path: "/dev/k-u", major: 1, minor: 7 },
      { type: "b", path: "/dev/k-b", major: 7, minor: 9, fileMode: 0o600 },
      { type: "p", path: "/dev/k-p", fileMode: 0o622, uid: 1, gid: 2 },
    ];
    const list = printing(`stat -c '%n %F %t:%T %a %u:%g' ${nodes.map(({ path }) => path).join(" ")}`, (config) => {
      config.linux["devices"] = nodes;
    });
    expect((await output(list)).trimEnd().split("\n")).toEqual([
      "/dev/k-c character special file 1:5 640 3:4",
      "/dev/k-u character special file 1:7 666 0:0",
      "/dev/k-b block special file 7:9 600 0:0",
      "/dev/k-p fifo 0:0 622 1:2",
    ]);
    for (const [type, path, words] of [
      ["x", "/dev/x", '"/dev/x" has the unknown type "x"'],
      ["c", "../../x", '"../../x" is not an absolute path'],
      ["c", "", '"" is not an absolute path'],
    ]) {
      const name = id();
      const bad = bundle((config) => void Object.assign(config.linux, { devices: [{ type, path, major: 1, minor: 3 }] }));
      const { status, stderr } = await runtime(["create", "-b", bad, name]);
      expect([status, stderr]).toEqual([1, expect.stringContaining(words!)]);
      expect(existsSync(join(root, name))).toBe(false);
    }
  });

  test("K21: create does without a process, start says what is missing", async () => {
    const name = id();
    await ok(["create", "-b", bundle((config) => Reflect.deleteProperty(config, "process")), name]);
    const log = join(directory, "k21.json");
    expect((await runtime(["--log", log, "--log-format", "json", "start", name])).status).toBe(1);
    expect(JSON.parse(readFileSync(log, "utf8"))).toMatchObject({ level: "error", msg: expect.stringContaining("process") });
    expect((await stateOf(name)).status).toBe("created");
  });

  test("K22: a network namespace of its own, of another one, or of the host", async () => {
    const network = (entry?: { type: string; path?: string }) =>
      printing("readlink /proc/self/ns/net", (config) => {
        config.linux.namespaces = config.linux.namespaces.filter(({ type }) => type !== "network");
        if (entry) config.linux.namespaces.push(entry);
        else config.mounts = config.mounts.filter(({ type }) => type !== "sysfs");
      });
    const { pid } = await started(staying());
    const [own, host, other] = [
      await output(network({ type: "network" })),
      await output(network()),
      await output(network({ type: "network", path: `/proc/${pid}/ns/net` })),
    ];
    expect(host.trim()).toBe(readlinkSync("/proc/self/ns/net"));
    expect(other.trim()).toBe(readlinkSync(`/proc/${pid}/ns/net`));
    expect(new Set([own, host, other]).size).toBe(3);
  });

  test("K23: a bundle by its relative path; a file is none", async () => {
    const path = printing("echo relative");
    const name = id();
    expect(await ok(["run", "-b", basename(path), name], { cwd: dirname(path) })).toBe("relative\n");
    const { status, stderr } = await runtime(["run", "-b", join(path, "config.json"), id()]);
    expect([status, stderr]).toEqual([1, expect.stringContaining("not a directory")]);
  });

  test("K24: what is wrong with the text is told with line and column, by create and by validate", async () => {
    const path = bundle();
    writeFileSync(join(path, "config.json"), '{\n "ociVersion": "1.0.0",\n "root": }');
    expect((await runtime(["create", "-b", path, id()])).stderr).toContain(":3:10: ");
    expect((await runtime(["validate", "-b", path])).stdout).toMatch(/^error\[config-syntax\] \S+config\.json:3:10$/m);
  });

  test("K26: an unknown word is refused before anything is done", async () => {
    const path = bundle(annotated({ [`${CRI}.container-type`]: "pod" }));
    const name = id();
    const { status, stderr } = await runtime(["create", "-b", path, name]);
    expect(status).toBe(1);
    expect(stderr).toContain('unknown container type "pod"');
    expect(stderr).toContain(`(at /annotations/${CRI}.container-type)`);
    expect(existsSync(join(root, name))).toBe(false);
    expect((await runtime(["plan", "-b", path, name])).status).toBe(1);
  });

  test("K27: a container names its sandbox, and validate says when that is gone", async () => {
    const { name, pid } = await started(staying());
    const path = staying((config) => {
      annotated({ [`${CRI}.container-type`]: "container", [`${CRI}.sandbox-id`]: name })(config);
      config.linux.namespaces = config.linux.namespaces.map((entry) =>
        entry.type === "network" ? { ...entry, path: `/proc/${pid}/ns/net` } : entry,
      );
    });
    const GONE = `sandbox-gone /annotations/${CRI}.sandbox-id`;
    expect(await findings(path)).not.toContain(GONE);
    await ok(["delete", "--force", name]);
    expect(await findings(path)).toContain(GONE);
    expect((await runtime(["validate", "-b", path])).stdout).toContain(`there is no sandbox "${name}" below ${root}`);
    expect((await runtime(["create", "-b", path, id()])).stderr).toContain(`/proc/${pid}/ns/net`);
    // What is no name of a container is not looked up as a path.
    expect(await findings(bundle(annotated({ [`${CRI}.container-type`]: "container", [`${CRI}.sandbox-id`]: ".." })))).toContain(GONE);
  });

  test("K28, K32: the state has the annotations as they are, and no process when it has ended", async () => {
    const annotations = { "io.katacontainers.config.hypervisor.kernel": "/k", [`${CRI}.sandbox-name`]: "n=1" };
    const { name, pid } = await started(staying(annotated(annotations)));
    expect(await stateOf(name)).toMatchObject({ id: name, pid, status: "running", annotations });
    await ok(["kill", name, "KILL"]);
    await until(name, "stopped");
    const state = await stateOf(name);
    expect(state).toMatchObject({ pid: 0, annotations });
    // What runc's has, and nothing of what is kept for this runtime alone.
    expect(Object.keys(state).sort()).toEqual(["annotations", "bundle", "created", "id", "ociVersion", "owner", "pid", "rootfs", "status"]);
  });

  test("K29: the containers of a pod share what the first one makes, and configurations are kept once", async () => {
    const SHARED = { network: "net", ipc: "ipc", uts: "uts" } as const;
    const first = await started(staying(annotated({ [`${CRI}.container-type`]: "sandbox", [`${CRI}.sandbox-id`]: "p" })));
    const second = await started(
      staying((config) => {
        config.linux.namespaces = config.linux.namespaces.map((entry) =>
          entry.type in SHARED ? { ...entry, path: `/proc/${first.pid}/ns/${SHARED[entry.type as keyof typeof SHARED]}` } : entry,
        );
        delete config.hostname;
      }),
    );
    for (const file of [...Object.values(SHARED), "pid"]) {
      const [one, two] = [first, second].map(({ pid }) => readlinkSync(`/proc/${pid}/ns/${file}`));
      expect(one === two, file).toBe(file !== "pid");
    }
    const files = readdirSync(join(root, first.name)).filter((file) => file.endsWith(".json"));
    const withMounts = files.filter((file) => readFileSync(join(root, first.name, file), "utf8").includes('"destination"'));
    expect(withMounts).toEqual(["config.json"]);
  });

  test("K31: /dev/shm is as large as its mount says, or the pod's, or not there", async () => {
    const shared = join(directory, "shm");
    mkdirSync(shared);
    const shm = (...mounts: Config["mounts"]) =>
      printing("grep -q ' /dev/shm ' /proc/self/mountinfo && df -k /dev/shm | tail -n 1 | awk '{ print $2 }'", (config) => {
        config.mounts = [...config.mounts.filter(({ destination }) => destination !== "/dev/shm"), ...mounts];
      });
    // The pod's is a tmpfs of 2 MiB, which is gone with the mount namespace that it is made in.
    const script = 'mount -t tmpfs -o size=2m tmpfs "$1" && shift && exec "$@"';
    const shown = async (path: string) => {
      const command = ["unshare", "-m", "sh", "-c", script, "sh", shared, RUNTIME, "--root", root, "run", "-b", path, id()];
      const { stdout, stderr } = await call(directory, command);
      return stdout + stderr;
    };
    const own = { destination: "/dev/shm", type: "tmpfs", source: "shm", options: ["size=1m"] };
    const pod = { destination: "/dev/shm", type: "bind", source: shared, options: ["rbind"] };
    expect(await shown(shm(own))).toBe("1024\n");
    expect(await shown(shm(pod))).toBe("2048\n");
    expect(await shown(shm())).toBe("");
  });

  test.each([
    ["A=x y ", "A=x y "],
    ["A= x", "A= x"],
    ["A='x'", "A='x'"],
    ['A="x=y"', 'A="x=y"'],
    ["A=", "A="],
  ])("K34: exec --env '%s' is the entry as it stands", async (entry, expected) => {
    const { name } = await started(staying());
    const environment = await ok(["exec", "--env", entry, name, "/bin/cat", "/proc/self/environ"]);
    expect(environment.split("\0")).toContain(expected);
  });

  test("K34: without a name or without = it is an error that says so", async () => {
    const { name } = await started(staying());
    expect((await runtime(["exec", "--env", "A", name, "/bin/true"])).stderr).toContain('"A" has no "="');
    expect((await runtime(["exec", "--env", "=x", name, "/bin/true"])).stderr).toContain('"=x" has no name');
  });

  test("K35: a damaged record is a typed error, and delete --force still works", async () => {
    const { name, pid } = await started(staying(), ["--cgroup-manager", "disabled"]);
    writeFileSync(join(root, name, "state.json"), '{"schema":1');
    const log = join(directory, "k35.json");
    expect((await runtime(["--log", log, "--log-format", "json", "state", name])).status).toBe(1);
    expect(JSON.parse(readFileSync(log, "utf8"))).toMatchObject({ code: "state-unreadable" });
    // Nobody knows any longer which process it was.
    process.kill(pid, "SIGKILL");
    await ok(["delete", "--force", name]);
    expect(existsSync(join(root, name))).toBe(false);
  });
});
