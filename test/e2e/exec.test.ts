/** exec: a further process in a container: what it gets, how it ends, and that nothing is left of the runtime. */
import { readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Config } from "../support/config.ts";
import { isRoot, isRunt, shell, useHarness } from "../support/harness.ts";
import { keepsAffinity } from "../support/kernel.ts";

describe.skipIf(!isRoot)("exec (needs root)", () => {
  const { bundle, directory, id, ok, runtime, until } = useHarness();

  async function running(change: (config: Config) => void = () => {}): Promise<string> {
    const name = id();
    const path = bundle((config) => {
      shell(config, "exec sleep 1000");
      change(config);
    });
    await ok(["run", "-d", "-b", path, name]);
    await until(name, "running");
    return name;
  }

  test.each([
    ["exit 0", 0],
    ["exit 7", 7],
    ["kill -KILL $$", 137],
    ["kill -TERM $$", 143],
  ])("%s: the foreground ends with its status", async (command, status) => {
    expect(await runtime(["exec", await running(), "sh", "-c", command])).toEqual({ status, stdout: "", stderr: "" });
  });

  test("stdio is the caller's, and the command's own flags stay its own", async () => {
    const name = await running();
    expect(await runtime(["exec", name, "sh", "-c", "cat; echo $0 $* >&2", "--help", "-x", "--"], { input: "typed\n" })).toEqual({
      status: 0,
      stdout: "typed\n",
      stderr: "--help -x --\n",
    });
    if (isRunt) expect(await ok(["exec", name, "--", "echo", "-n", "a"])).toBe("a");
  });

  test("it shares every namespace and cgroup with init", async () => {
    const name = await running();
    const pid = JSON.parse(await ok(["state", name])).pid;
    const links = await ok(["exec", name, "sh", "-c", "for n in pid mnt ipc uts net cgroup user; do readlink /proc/self/ns/$n; done"]);
    expect(links.trimEnd().split("\n")).toEqual(
      ["pid", "mnt", "ipc", "uts", "net", "cgroup", "user"].map((kind) => readlinkSync(`/proc/${pid}/ns/${kind}`)),
    );
    const pidFile = join(directory, `pid-${name}`);
    await ok(["exec", "-d", "--pid-file", pidFile, name, "sleep", "1000"]);
    expect(readFileSync(`/proc/${readFileSync(pidFile, "utf8")}/cgroup`, "utf8")).toBe(readFileSync(`/proc/${pid}/cgroup`, "utf8"));
  });

  // runc 1.1 forgets the umask.
  test.skipIf(!isRunt)("the settings are the container's", async () => {
    const name = await running((config) => {
      config.process.user = { uid: 1000, gid: 1001, additionalGids: [5], umask: 0o077 };
      config.process.env.push("A=1");
      config.process.cwd = "/etc";
      config.process.oomScoreAdj = 500;
      config.process.rlimits = [{ type: "RLIMIT_NOFILE", soft: 100, hard: 200 }];
    });
    const script =
      "id -u; id -G; umask; echo $A $HOME; pwd; cat /proc/self/oom_score_adj; ulimit -Sn; ulimit -Hn; grep -E 'NoNew|Bnd|Eff' /proc/self/status";
    expect(await ok(["exec", name, "sh", "-c", script])).toBe(
      "1000\n1001 5\n0077\n1 /home/user\n/etc\n500\n100\n200\nCapEff:\t0000000000000000\nCapBnd:\t0000000020000420\nNoNewPrivs:\t1\n",
    );
  });

  test("flags change them", async () => {
    const name = await running((config) => {
      config.process.noNewPrivileges = false;
      config.process.env.push("A=1", "B=2");
    });
    const script = "id -u; id -g; id -G; echo $A $B $C; pwd; grep NoNew /proc/self/status";
    expect(
      await ok([
        "exec",
        "-u",
        "7:8",
        "-g",
        "9",
        "-g",
        "10",
        "-e",
        "A=3",
        "-e",
        "C=4",
        "--cwd",
        "/tmp",
        "--no-new-privs",
        name,
        "sh",
        "-c",
        script,
      ]),
    ).toBe("7\n8\n8 9 10\n3 2 4\n/tmp\nNoNewPrivs:\t1\n");
    const capabilities = "grep -E 'Cap' /proc/self/status";
    expect(await ok(["exec", "--cap", "CAP_CHOWN", "--cap", "CAP_SYS_ADMIN", name, "sh", "-c", capabilities])).toBe(
      "CapInh:\t0000000000000000\nCapPrm:\t0000000020200421\nCapEff:\t0000000020200421\nCapBnd:\t0000000020200421\nCapAmb:\t0000000000000000\n",
    );
  });

  test.skipIf(!isRunt)("a change of config.json after create does not matter", async () => {
    const name = id();
    const path = bundle((config) => shell(config, "exec sleep 1000"));
    await ok(["run", "-d", "-b", path, name]);
    writeFileSync(join(path, "config.json"), "{}");
    expect(await ok(["exec", name, "echo", "same"])).toBe("same\n");
  });

  const DOCUMENT = {
    args: ["/bin/sh", "-c", "id -u; id -G; pwd; echo $X; grep -E 'CapEff|NoNew' /proc/self/status"],
    cwd: "/tmp",
    env: ["PATH=/bin", "X=y"],
    user: { uid: 3, gid: 4, additionalGids: [5] },
    capabilities: {
      bounding: ["CAP_KILL"],
      effective: ["CAP_KILL"],
      permitted: ["CAP_KILL"],
      inheritable: ["CAP_KILL"],
      ambient: ["CAP_KILL"],
    },
    noNewPrivileges: true,
  };
  const DOCUMENT_OUTPUT = "3\n4 5\n/tmp\ny\nCapEff:\t0000000000000020\nNoNewPrivs:\t1\n";

  test("--process takes everything from a document, also from a pipe", async () => {
    const name = await running();
    const file = join(directory, "process.json");
    writeFileSync(file, JSON.stringify(DOCUMENT));
    expect(await ok(["exec", "--process", file, name])).toBe(DOCUMENT_OUTPUT);
    expect(await ok(["exec", "-p", "/dev/stdin", name], { input: JSON.stringify(DOCUMENT) })).toBe(DOCUMENT_OUTPUT);
  });

  test.skipIf(!isRunt).each([
    ['{"args":["id"],"cwd":"tmp"}', 'process.cwd: "tmp" is not an absolute path'],
    ['{"args":[],"cwd":"/"}', "process.args: must not be empty"],
    ['{"args":"id","cwd":"/"}', "/args: expected array, found string"],
    ["{", "process.json:1:2: "],
    ["null", "process cannot be null"],
  ])("a wrong document is refused: %s", async (text, message) => {
    const file = join(directory, "process.json");
    writeFileSync(file, text);
    const result = await runtime(["exec", "-p", file, await running()]);
    expect(result).toMatchObject({ status: 255, stdout: "" });
    expect(result.stderr).toContain(`exec failed: `);
    expect(result.stderr).toContain(message);
  });

  test("a created container can be entered, a stopped one cannot", async () => {
    const name = id();
    await ok(["create", "-b", bundle((config) => shell(config, "exit 0")), name]);
    expect(await ok(["exec", name, "cat", "/proc/1/comm"])).toMatch(/^[-\w]/);
    expect(JSON.parse(await ok(["state", name])).status).toBe("created");
    await ok(["start", name]);
    await until(name, "stopped");
    const result = await runtime(["exec", name, "true"]);
    expect(result).toMatchObject({ status: 255, stdout: "" });
    expect(result.stderr).toContain("cannot exec in a stopped container");
    expect((await runtime(["exec", "nobody", "true"])).status).toBe(255);
  });

  test.each([
    ["nosuch", 'exec failed: unable to start container process: exec: "nosuch": executable file not found in $PATH'],
    ["/nosuch", 'exec failed: unable to start container process: exec: "/nosuch": stat /nosuch: no such file or directory'],
    ["/etc/passwd", 'exec failed: unable to start container process: exec: "/etc/passwd": permission denied'],
  ])("%s cannot be run: 255, runc's words, and no pid file", async (program, message) => {
    const name = await running();
    const pidFile = join(directory, `pid-${name}`);
    const log = join(directory, `log-${name}`);
    for (const detach of [[], ["-d"]]) {
      const result = await runtime(["--log", log, "--log-format", "json", "exec", ...detach, "--pid-file", pidFile, name, program]);
      expect(result).toMatchObject({ status: 255, stdout: "" });
      expect(result.stderr).toContain(isRunt ? message : program);
      const lines = readFileSync(log, "utf8").trimEnd().split("\n");
      expect(JSON.parse(lines.at(-1) ?? "")).toMatchObject({
        level: "error",
        msg: expect.stringContaining(message.slice(message.indexOf("exec: "))),
      });
      expect(() => readFileSync(pidFile)).toThrow("ENOENT");
    }
  });

  test("a missing directory to work in is an error, and is not made", async () => {
    const name = await running();
    const result = await runtime(["exec", "--cwd", "/tmp/missing", name, "true"]);
    expect(result.status).toBe(255);
    expect(result.stderr).toContain("no such file or directory");
    expect((await runtime(["exec", name, "ls", "/tmp/missing"])).status).toBe(1);
  });

  test("--detach returns while the program runs, as a child of whoever adopts", async () => {
    const name = await running();
    const pidFile = join(directory, `pid-${name}`);
    expect(await runtime(["exec", "--detach", "--pid-file", pidFile, name, "sleep", "1000"])).toEqual({
      status: 0,
      stdout: "",
      stderr: "",
    });
    const pid = readFileSync(pidFile, "utf8");
    expect(pid).toMatch(/^\d+$/);
    expect(readFileSync(`/proc/${pid}/cmdline`, "utf8")).toBe(["sleep", "1000", ""].join("\0"));
    const parent = readFileSync(`/proc/${pid}/status`, "utf8").match(/PPid:\t(\d+)/)?.[1];
    expect(readFileSync(`/proc/${parent}/cmdline`, "utf8")).not.toContain("exec");
    process.kill(Number(pid), "SIGKILL");
  });

  test("it ends with the container", async () => {
    const name = await running();
    const executing = runtime(["exec", name, "sleep", "999"]);
    // Before the program runs, its end would be an error of exec.
    const programs = async () =>
      (JSON.parse(await ok(["ps", "-f", "json", name])) as number[]).map((pid) => readFileSync(`/proc/${pid}/cmdline`, "utf8"));
    await expect.poll(programs).toContain("sleep\x00999\x00");
    await ok(["delete", "--force", name]);
    expect((await executing).status).toBe(137);
  });

  test.each(["SIGTERM", "SIGUSR1"] as const)("%s to the foreground runtime reaches the program", async (signal) => {
    const name = await running();
    const trap = signal.slice(3);
    let send = () => {};
    let said = "";
    const executing = runtime(["exec", name, "sh", "-c", `trap 'echo got; exit 9' ${trap}; echo ready; while :; do sleep 0.02; done`], {
      started: (child, output) => {
        said = output;
        send = () => child.kill(signal);
      },
    });
    await expect.poll(() => readFileSync(said, "utf8"), { interval: 20 }).toBe("ready\n");
    send();
    expect(await executing).toEqual({ status: 9, stdout: "ready\ngot\n", stderr: "" });
  });

  test.skipIf(!isRunt)("process.execCPUAffinity: the final one stays, on the CPUs of the cgroup", async () => {
    const name = await running((config) => Object.assign(config.process, { execCPUAffinity: { initial: "0-1", final: "1" } }));
    const allowed = ["grep", "Cpus_allowed_list", "/proc/self/status"];
    expect(await ok(["exec", name, ...allowed])).toBe("Cpus_allowed_list:\t1\n");
    const file = join(directory, "affinity.json");
    writeFileSync(file, JSON.stringify({ args: allowed, cwd: "/", env: ["PATH=/bin"], execCPUAffinity: { initial: "0" } }));
    // CPUs 0 and 1 are what the container has.
    expect(await ok(["exec", "-p", file, name])).toBe(`Cpus_allowed_list:\t${keepsAffinity ? "0" : "0-1"}\n`);
    writeFileSync(file, JSON.stringify({ args: allowed, cwd: "/", execCPUAffinity: { final: "some" } }));
    expect((await runtime(["exec", "-p", file, name])).stderr).toContain('"some" is not a list of CPUs');
  });

  test("twenty at once", async () => {
    const name = await running();
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, index) => runtime(["exec", name, "sh", "-c", `echo ${index}; exit ${index}`])),
    );
    results.forEach((result, index) => {
      expect(result).toEqual({ status: index, stdout: `${index}\n`, stderr: "" });
    });
    expect(JSON.parse(await ok(["ps", "--format", "json", name]))).toHaveLength(1);
  });

  test.skipIf(!isRunt)("--cgroup joins below the container's cgroup and nowhere else", async () => {
    const name = await running();
    const inside = await ok(["exec", name, "cat", "/proc/self/cgroup"]);
    const own = inside.match(/:pids:(.*)/)?.[1] ?? inside.match(/^0::(.*)/m)?.[1];
    expect(await ok(["exec", "--cgroup", "/", name, "cat", "/proc/self/cgroup"])).toBe(inside);
    const outside = await runtime(["exec", "--cgroup", "../..", name, "true"]);
    expect(outside).toMatchObject({ status: 255, stderr: expect.stringContaining("bad sub cgroup path: ../..") });
    const missing = await runtime(["exec", "--cgroup", "missing", name, "true"]);
    const words = /: error adding pid [1-9]\d* to cgroups: .*no such file or directory/;
    expect(missing).toMatchObject({ status: 255, stderr: expect.stringMatching(words) });
    expect(own).toBeDefined();
  });

  test("a user namespace is entered with the rights of its root", async () => {
    const name = await running((config) => {
      config.linux.namespaces.push({ type: "user" });
      config.linux.uidMappings = [{ containerID: 0, hostID: 100000, size: 65536 }];
      config.linux.gidMappings = [{ containerID: 0, hostID: 100000, size: 65536 }];
    });
    expect(
      await ok(["exec", name, "sh", "-c", "id -u; id -g; ulimit -n; grep -c . /proc/self/uid_map; grep CapBnd /proc/self/status"]),
    ).toBe("0\n0\n1024\n1\nCapBnd:\t0000000020000420\n");
    expect(await ok(["exec", "-u", "5:6", name, "id", "-u"])).toBe("5\n");
    const pidFile = join(directory, `pid-${name}`);
    await ok(["exec", "-d", "--pid-file", pidFile, name, "sleep", "1000"]);
    expect(readFileSync(`/proc/${readFileSync(pidFile, "utf8")}/status`, "utf8")).toContain("Uid:\t100000\t");
  });
});
