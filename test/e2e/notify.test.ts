/** NOTIFY_SOCKET: a container that is a service tells its caller's service manager that it is ready, and nothing else. */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { Config } from "../support/config.ts";
import { isRoot, isRunt, type Result, shell, useHarness } from "../support/harness.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { program } from "../support/programs.ts";
import { type Receiver, useReceivers } from "../support/receiver.ts";

/** argv: SOCKET GO HEARD. Its queue is full until GO is there; then what a monitor says goes into HEARD. */
const DEAF = `
import os, socket, sys, time
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
c = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
c.connect(sys.argv[1])
c.setblocking(False)
try:
    while True: c.send(b"full")
except BlockingIOError: pass
print("deaf", flush=True)
while not os.path.exists(sys.argv[2]): time.sleep(0.05)
while True:
    text = s.recv(4096)
    if text.startswith(b"MAINPID"): open(sys.argv[3], "wb").write(text)
`;

describe.skipIf(!isRoot || !isRunt)("NOTIFY_SOCKET (needs root)", () => {
  const { bundle, directory, id, ok, root, runtime, until } = useHarness();
  const receive = useReceivers(directory);
  let count = 0;

  const manager = () => join(directory, `manager-${++count}`);

  /** The container says this, its newlines as \n, and stays. */
  const saying = (text: string, then = "exec sleep 1000", change: (config: Config) => void = () => {}) =>
    bundle((config) => {
      config.mounts.push({ destination: "/notify", type: "bind", source: program("notify"), options: ["bind", "ro"] });
      shell(config, `/notify '${text}'; ${then}`);
      change(config);
    });

  /** All that the manager has been told by now: datagrams arrive in their order, so what is sent here is the last. */
  const heard = async (receiver: Receiver, socket: string): Promise<readonly string[]> => {
    expect(spawnSync(program("notify"), ["END=1"], { env: { NOTIFY_SOCKET: socket } }).status).toBe(0);
    await expect.poll(() => receiver.lines().at(-1), { timeout: PATIENCE_MS }).toBe("END=1");
    return receiver.lines().slice(0, -1);
  };

  const pidOf = async (name: string): Promise<number> => JSON.parse(await ok(["state", name])).pid;

  test("create and start: start returns when the container is ready, and has told whose pid it is", async () => {
    const socket = manager();
    const receiver = await receive("notify", "--listen", socket);
    const name = id();
    const env = { NOTIFY_SOCKET: socket };
    await ok(["create", "-b", saying("STATUS=up\\nREADY=1\\nMAINPID=1", "exec sleep 1000"), name], { env });
    expect(existsSync(join(root, name, "notify/notify.sock"))).toBe(false);
    await ok(["start", name], { env });
    expect(await receiver.said(2)).toEqual([`MAINPID=${await pidOf(name)}\\nREADY=1\\n`, "BARRIER=1 fds=1"]);
    await ok(["delete", "--force", name]);
    expect(existsSync(join(root, name))).toBe(false);
  });

  test("start waits for it", async () => {
    const socket = manager();
    await receive("notify", "--listen", socket);
    const name = id();
    const env = { NOTIFY_SOCKET: socket };
    const path = saying("WATCHDOG=1", "while [ ! -e /tmp/go ]; do sleep 0.05; done; /notify READY=1; exec sleep 1000", (config) => {
      config.mounts.push({ destination: "/tmp", type: "tmpfs", source: "tmpfs" });
    });
    await ok(["create", "-b", path, name], { env });
    let ended = false;
    const starting = ok(["start", name], { env }).then(() => {
      ended = true;
    });
    await until(name, "running");
    await sleep(300);
    expect(ended).toBe(false);
    await ok(["exec", name, "touch", "/tmp/go"]);
    await starting;
  });

  test("a manager that does not listen stops neither the signals of run nor its end, and hears it when it does", async () => {
    const socket = manager();
    const go = `${socket}.go`;
    const heard = `${socket}.heard`;
    const deaf = spawn("python3", ["-c", DEAF, socket, go, heard], { stdio: ["ignore", "pipe", "inherit"] });
    await new Promise((resolve) => deaf.stdout.once("data", resolve));
    try {
      for (const listens of [false, true]) {
        const name = id();
        let send = () => {};
        let said = "";
        const running = runtime(["run", "-b", saying("READY=1", "trap 'exit 9' TERM; echo trapped; while :; do sleep 0.05; done"), name], {
          env: { NOTIFY_SOCKET: socket },
          started: (child, output) => {
            said = output;
            send = () => child.kill("SIGTERM");
          },
        });
        await expect.poll(() => readFileSync(said, "utf8")).toBe("trapped\n");
        if (listens) {
          writeFileSync(go, "");
          await expect.poll(() => existsSync(heard) && readFileSync(heard, "utf8")).toMatch(/^MAINPID=\d+\nREADY=1\n$/);
        }
        send();
        expect((await running).status).toBe(9);
      }
    } finally {
      deaf.kill("SIGKILL");
    }
  });

  test("start returns when the container ends without having been ready", async () => {
    const socket = manager();
    const receiver = await receive("notify", "--listen", socket);
    const name = id();
    const env = { NOTIFY_SOCKET: socket };
    await ok(["create", "-b", saying("READY=0\\nXREADY=1\\nREADY=1X", "exit 3"), name], { env });
    await ok(["start", name], { env });
    await until(name, "stopped");
    expect(await heard(receiver, socket)).toEqual([]);
  });

  test("what the program says last of all counts", async () => {
    const socket = manager();
    const receiver = await receive("notify", "--listen", socket);
    const name = id();
    await ok(["run", "-d", "-b", saying("READY=1", "exit 0"), name], { env: { NOTIFY_SOCKET: socket } });
    expect((await receiver.said(2))[0]).toMatch(/^MAINPID=\d+\\nREADY=1\\n$/);
  });

  test("run -d returns when it is ready; the manager may have an abstract name", async () => {
    const socket = `@${manager()}`;
    const receiver = await receive("notify", "--listen", socket);
    const name = id();
    await ok(["run", "-d", "-b", saying("READY=1"), name], { env: { NOTIFY_SOCKET: socket } });
    expect(receiver.lines()[0]).toBe(`MAINPID=${await pidOf(name)}\\nREADY=1\\n`);
  });

  test("in the foreground the main process is runt's, and the container may go on speaking", async () => {
    const socket = manager();
    const receiver = await receive("notify", "--listen", socket);
    const name = id();
    let pid: number | undefined;
    const running: Promise<Result> = runtime(["run", "-b", saying("READY=1", "/notify READY=1 STATUS=x FDSTORE=1 && exit 5"), name], {
      env: { NOTIFY_SOCKET: socket },
      started: (child) => {
        pid = child.pid;
      },
    });
    expect(await running).toEqual({ status: 5, stdout: "", stderr: "" });
    expect(await heard(receiver, socket)).toEqual([`MAINPID=${pid}\\nREADY=1\\n`]);
    expect(existsSync(join(root, name))).toBe(false);
  });

  test("what a container has is its own socket, read-only, and no exec knows of it", async () => {
    const socket = manager();
    await receive("notify", "--listen", socket);
    const name = id();
    const path = saying("READY=1", "exec sleep 1000", (config) => config.process.env.push("NOTIFY_SOCKET=/of/config"));
    await ok(["run", "-d", "-b", path, name], { env: { NOTIFY_SOCKET: socket } });
    const environment = readFileSync(`/proc/${await pidOf(name)}/environ`, "utf8").split("\0");
    expect(environment.filter((entry) => entry.startsWith("NOTIFY_SOCKET="))).toEqual(["NOTIFY_SOCKET=/run/notify/notify.sock"]);
    expect(
      await ok([
        "exec",
        name,
        "sh",
        "-c",
        "ls -l /run/notify | cut -c1-10; grep /run/notify /proc/self/mountinfo | cut -d' ' -f6; echo $NOTIFY_SOCKET",
      ]),
    ).toMatch(/^total 0 *\nsrwxrwxrwx\nro,nosuid,nodev,noexec\S*\n\/of\/config\n$/);
  });

  test("in a user namespace", async () => {
    const socket = manager();
    const receiver = await receive("notify", "--listen", socket);
    const path = saying("READY=1", "exec sleep 1000", (config) => {
      config.linux.namespaces.push({ type: "user" });
      config.linux.uidMappings = [{ containerID: 0, hostID: 100_000, size: 1000 }];
      config.linux.gidMappings = [{ containerID: 0, hostID: 100_000, size: 1000 }];
    });
    await ok(["run", "-d", "-b", path, id()], { env: { NOTIFY_SOCKET: socket } });
    await receiver.said(2);
  });

  test("it stands in the plan", async () => {
    const env = { NOTIFY_SOCKET: "/run/systemd/notify" };
    const { ops } = JSON.parse(await ok(["plan", "-f", "json", "-b", saying("READY=1"), "planned"], { env })) as {
      ops: readonly { readonly op: string; readonly args: Readonly<Record<string, unknown>> }[];
    };
    const argsOf = (name: string) => ops.filter(({ op }) => op === name).map(({ args }) => args);
    expect(argsOf("notify.prepare")).toEqual([{ directory: `${root}/planned/notify`, listen: false, host: "/run/systemd/notify" }]);
    // MOUNT_ATTR_RDONLY | NOSUID | NODEV | NOEXEC
    expect(argsOf("mount.bind")).toContainEqual(expect.objectContaining({ target: "/run/notify", attrSet: "15" }));
    expect(argsOf("process.exec")[0]?.["env"]).toContain("NOTIFY_SOCKET=/run/notify/notify.sock");
  });

  test("a socket with a relative path is refused before anything is done", async () => {
    const name = id();
    const result = await runtime(["run", "-d", "-b", saying("READY=1"), name], { env: { NOTIFY_SOCKET: "relative" } });
    expect(result.status).toBe(1);
    expect(result.stderr).toMatch(/NOTIFY_SOCKET=relative: use an absolute path, or @ and a name/);
    expect(existsSync(join(root, name))).toBe(false);
  });

  describe("a socket that nobody listens on stops nothing", () => {
    const left = () => {
      const path = join(directory, "left-over");
      if (!existsSync(path))
        spawnSync("python3", ["-c", "import socket,sys; socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).bind(sys.argv[1])", path]);
      return path;
    };
    const GONE = {
      "that is not there": () => "/nonexistent/socket",
      "of a process that is gone": left,
      "with a name": () => "@runt-test-nobody",
    };

    test.each(Object.entries(GONE))("%s", async (_, socket) => {
      const env = { NOTIFY_SOCKET: socket() };
      const path = bundle((config) => shell(config, "echo runs"));
      const first = id();
      expect(await runtime(["run", "-b", path, first], { env })).toEqual({ status: 0, stdout: "runs\n", stderr: "" });
      // The monitor has left nothing, nor has what it calls.
      expect(existsSync(join(root, first))).toBe(false);
      const sleeping = () => bundle((config) => shell(config, "sleep 1000"));
      const [detached, created] = [id(), id()];
      expect(await runtime(["run", "-d", "-b", sleeping(), detached], { env })).toEqual({ status: 0, stdout: "", stderr: "" });
      expect(await ok(["inspect", detached])).toContain("the service manager is not told that the container is ready");
      await ok(["create", "-b", sleeping(), created], { env });
      expect(await runtime(["start", created], { env })).toEqual({ status: 0, stdout: "", stderr: "" });
      await until(created, "running");
    });

    test("and start says so when it is asked", async () => {
      const env = { NOTIFY_SOCKET: "/nonexistent/socket" };
      const name = id();
      await ok(["create", "-b", bundle((config) => shell(config, "sleep 1000")), name], { env });
      expect((await runtime(["--debug", "start", name], { env })).stderr).toContain("warning: NOTIFY_SOCKET=/nonexistent/socket");
    });
  });

  test("whatever a privileged container leaves in the directory, delete removes it and nothing else", async () => {
    const socket = manager();
    await receive("notify", "--listen", socket);
    const name = id();
    await ok(["run", "-d", "-b", saying("READY=1"), name], { env: { NOTIFY_SOCKET: socket } });
    const outside = join(directory, "outside");
    mkdirSync(outside);
    writeFileSync(join(outside, "precious"), "");
    const inside = join(root, name, "notify");
    mkdirSync(join(inside, "a/b"), { recursive: true });
    writeFileSync(join(inside, "a/b/file"), "");
    symlinkSync(outside, join(inside, "a/link"));
    await ok(["delete", "--force", name]);
    expect(existsSync(join(root, name))).toBe(false);
    expect(readdirSync(outside)).toEqual(["precious"]);
  });
});
