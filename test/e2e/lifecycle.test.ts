/** create, start, state, kill, delete and list, as engines and people use them. */
import { readFileSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { basename, join } from "node:path";
import { describe, expect, test } from "vitest";
import { call, isRoot, isRunt, RUNTIME, shell, useHarness } from "../support/harness.ts";
import { catches } from "../support/process-status.ts";

/** BUNDLE ID PIDFILE RUNTIME...: init has been killed, and its end waits until this process reaps what an exec has left to it. */
const LATE_REAPER = `
import ctypes, json, os, signal, subprocess, sys, threading, time
bundle, name, pid_file, *runtime = sys.argv[1:]
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
call = lambda *words: subprocess.run([*runtime, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True)
with open(os.devnull, "r+") as null:
    for words in (["run", "-d", "-b", bundle], ["exec", "-d", "--pid-file", pid_file]):
        subprocess.run([*runtime, *words, name, *(["sleep", "1000"] if words[0] == "exec" else [])], stdin=null, stdout=null, stderr=null)
os.kill(json.loads(call("state", name).stdout)["pid"], signal.SIGKILL)
time.sleep(0.2)
before = json.loads(call("state", name).stdout)["status"]
threading.Timer(0.5, lambda: os.waitpid(int(open(pid_file).read()), 0)).start()
deleted = call("delete", name)
print(json.dumps([before, deleted.returncode, deleted.stderr]))
`;

describe.skipIf(!isRoot)("lifecycle (needs root)", () => {
  const { bundle, directory, id, ok, root, runtime, until } = useHarness();

  const staying = () => bundle((config) => shell(config, "trap 'exit 3' TERM; trap 'exit 4' USR1; while :; do sleep 0.05; done"));

  test("from create to delete", async () => {
    const name = id();
    const pidFile = join(directory, "pid");
    const path = staying();
    await ok(["create", "--bundle", path, "--pid-file", pidFile, name]);
    const pid = readFileSync(pidFile, "utf8");
    expect(pid).toMatch(/^\d+$/);
    const created = JSON.parse(await ok(["state", name]));
    expect(created).toMatchObject({ id: name, pid: Number(pid), status: "created", bundle: path });
    expect(created.created).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);
    await ok(["start", name]);
    await until(name, "running");
    await ok(["kill", name, "KILL"]);
    await until(name, "stopped");
    expect(JSON.parse(await ok(["state", name])).pid).toBe(0);
    expect(await ok(["delete", name])).toBe("");
    const gone = await runtime(["state", name]);
    expect(gone).toMatchObject({ status: 1, stdout: "" });
    expect(gone.stderr).toContain("does not exist");
  });

  test("the keys of state stand in runc's order", async () => {
    const name = id();
    await ok(["create", "-b", bundle((config) => Object.assign(config, { annotations: { "org.example.key": "value" } })), name]);
    const text = await ok(["state", name]);
    expect(Object.keys(JSON.parse(text))).toEqual([
      "ociVersion",
      "id",
      "pid",
      "status",
      "bundle",
      "rootfs",
      "created",
      "annotations",
      "owner",
    ]);
    expect(JSON.parse(text).annotations).toEqual({ "org.example.key": "value" });
  });

  test.each(["TERM", "SIGTERM", "sigusr1", "15", "10"])("kill by %s", async (signal) => {
    const name = id();
    const out = join(directory, `out-${name}`);
    await ok(["run", "-d", "--pid-file", out, "-b", staying(), name]);
    await expect.poll(() => catches(Number(readFileSync(out, "utf8")), constants.signals.SIGTERM), { interval: 10 }).toBe(true);
    await ok(["kill", name, signal]);
    await until(name, "stopped");
  });

  test("an unknown signal is refused", async () => {
    const name = id();
    await ok(["create", "-b", bundle(), name]);
    const result = await runtime(["kill", name, "NOPE"]);
    expect(result.status).toBe(1);
    expect(result.stderr).toMatch(/unknown signal \\?"NOPE\\?"/);
  });

  test.skipIf(!isRunt)("delete waits for an init that has begun to end: its program is not running any more", async () => {
    const words = [staying(), id(), join(directory, "late.pid"), RUNTIME, "--root", root];
    const { stdout, stderr } = await call(directory, ["python3", "-c", LATE_REAPER, ...words]);
    expect({ said: JSON.parse(stdout), stderr }).toEqual({ said: ["running", 0, ""], stderr: "" });
  });

  test("what the status does not allow is refused in the words engines match", async () => {
    const name = id();
    const path = staying();
    await ok(["create", "-b", path, name]);
    expect((await runtime(["create", "-b", path, name])).stderr).toContain("container with given ID already exists");
    await ok(["start", name]);
    expect((await runtime(["start", name])).stderr).toContain("cannot start an already running container");
    const running = await runtime(["delete", name]);
    expect(running.status).toBe(1);
    expect(running.stderr).toContain(`cannot delete container ${name} that is not stopped: running`);
    await ok(["kill", name, "9"]);
    await until(name, "stopped");
    expect((await runtime(["start", name])).stderr).toContain("cannot start a container that has stopped");
    const stopped = await runtime(["kill", name, "15"]);
    expect(stopped.status).toBe(1);
    expect(stopped.stderr).toContain("container not running");
    await ok(["kill", "--all", name, "9"]);
  });

  test("delete of a created container kills it; delete --force of a running one too", async () => {
    const [created, running] = [id(), id()];
    await ok(["create", "-b", staying(), created]);
    await ok(["delete", created]);
    await ok(["run", "-d", "-b", staying(), running]);
    await ok(["delete", "--force", running]);
    expect((await runtime(["state", running])).status).toBe(1);
  });

  test("delete --force of an unknown id succeeds silently, delete does not", async () => {
    expect(await runtime(["delete", "--force", "nobody"])).toEqual({ status: 0, stdout: "", stderr: "" });
    const result = await runtime(["delete", "nobody"]);
    expect(result.status).toBe(1);
    expect(result.stderr).toContain("does not exist");
  });

  test("state names the bundle without links", async () => {
    const name = id();
    const path = bundle();
    symlinkSync(directory, join(directory, "link-to-directory"));
    symlinkSync(basename(path), join(directory, "link-to-bundle"));
    await ok(["create", "-b", join(directory, "link-to-directory", "link-to-bundle"), name]);
    expect(JSON.parse(await ok(["state", name])).bundle).toBe(realpathSync(path));
  });

  test("create leaves the program waiting; start runs it with create's stdio", async () => {
    const name = id();
    const created = await runtime(["create", "-b", bundle((config) => shell(config, "echo ran")), name]);
    expect(created).toEqual({ status: 0, stdout: "", stderr: "" });
    expect(await ok(["start", name])).toBe("");
    await until(name, "stopped");
  });

  test("list shows every container, as a table, as JSON and as ids", async () => {
    const [one, two] = [id(), id()];
    await ok(["create", "-b", bundle(), one]);
    await ok(["run", "-d", "-b", staying(), two]);
    const rows = (await ok(["list"])).trimEnd().split("\n");
    expect(rows[0]?.trim().split(/\s+/)).toEqual(["ID", "PID", "STATUS", "BUNDLE", "CREATED", "OWNER"]);
    expect(rows.find((row) => row.startsWith(one))).toMatch(/ created .* root\s*$/);
    expect(rows.find((row) => row.startsWith(two))).toMatch(/ running /);
    const json = JSON.parse(await ok(["list", "--format", "json"]));
    expect(json.map((entry: { id: string }) => entry.id).sort()).toEqual([one, two].sort());
    expect(json[0].owner).toBe("root");
    expect((await ok(["list", "-q"])).trim().split("\n").sort()).toEqual([one, two].sort());
  });

  test.skipIf(!isRunt)("a broken state record does not break list, and can be deleted by force", async () => {
    const [sound, broken] = [id(), id()];
    await ok(["create", "-b", bundle(), sound]);
    await ok(["create", "-b", bundle(), broken]);
    const file = join(root, broken, "state.json");
    const text = readFileSync(file, "utf8");
    writeFileSync(file, "{ not json");
    const list = await runtime(["list"]);
    expect(list.status).toBe(0);
    expect(list.stdout).toContain(sound);
    expect(list.stdout.split("\n").find((row) => row.startsWith(broken))).toContain("unreadable");
    expect((await runtime(["state", broken])).status).toBe(1);
    writeFileSync(file, text);
    await ok(["delete", "--force", broken]);
  });

  test.skipIf(RUNTIME.endsWith("crun")).each(["TERM", "INT", "HUP", "QUIT"])(
    "%s stops a container that waits for start",
    async (signal) => {
      for (const namespaces of ["own", "none"]) {
        const name = id();
        const path = bundle((config) => {
          if (namespaces === "none") config.linux.namespaces = config.linux.namespaces.filter(({ type }) => type !== "pid");
        });
        await ok(["create", "-b", path, name]);
        await ok(["kill", name, signal]);
        await until(name, "stopped");
        expect((await runtime(["start", name])).status).toBe(1);
        await ok(["delete", name]);
      }
    },
  );

  test("what init does while it waits is gone from the program: signals are as they are by default", async () => {
    const out = join(directory, "signals");
    const path = bundle((config) => {
      config.mounts.push({ destination: "/out", type: "bind", source: directory, options: ["bind", "rw"] });
      shell(config, "exec cat /proc/self/status > /out/signals");
    });
    const name = id();
    await ok(["create", "-b", path, name]);
    await ok(["start", name]);
    await until(name, "stopped");
    const text = readFileSync(out, "utf8");
    for (const field of ["SigBlk", "SigIgn", "SigCgt"]) expect(text).toMatch(new RegExp(`^${field}:\\s0000000000000000$`, "m"));
  });

  test("a SIGKILL to the created init is seen", async () => {
    const name = id();
    await ok(["create", "-b", bundle(), name]);
    await ok(["kill", name, "KILL"]);
    await until(name, "stopped");
    await ok(["delete", name]);
  });

  test.skipIf(!isRunt)("start of a created init that is killed before it has heard of it", async () => {
    const name = id();
    await ok(["create", "-b", bundle(), name]);
    const { pid } = JSON.parse(await ok(["state", name]));
    process.kill(pid, "SIGSTOP");
    // A signal is sent before it is taken: until then init could still read the byte.
    await expect.poll(() => / T /.test(readFileSync(`/proc/${pid}/stat`, "utf8"))).toBe(true);
    let starter = 0;
    const started = runtime(["start", name], {
      started: (child) => {
        starter = child.pid ?? 0;
      },
    });
    // It has written its byte, and waits: poll(2) or ppoll(2).
    const waits = () => /^(7|271) /.test(readFileSync(`/proc/${starter}/syscall`, "utf8"));
    await expect.poll(waits).toBe(true);
    process.kill(pid, "SIGKILL");
    expect(await started).toMatchObject({ status: 1, stderr: "runt: cannot start a container that has stopped\n" });
    await until(name, "stopped");
    await ok(["delete", name]);
  });
});
