/** containerd's calls, as its shim sends them; Docker and the kubelet send the same. */
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { cgroupOf } from "../support/cgroups.ts";
import { isRoot, isRunt, RUNTIME, shell } from "../support/harness.ts";
import { lastError, Shim } from "./shim.ts";
import { PATH, processDocument, useClients, waits } from "./support.ts";

describe.skipIf(!isRoot || !isRunt)("containerd's shim", () => {
  const { bundle, client, directory, id, isolatedClient, root, rootfs } = useClients();

  test("a container's life: create, start, exit, delete, and the shim's delete by force", async () => {
    const engine = client();
    const path = bundle((config) => shell(config, "cat; echo to stderr >&2; exit 3"));
    const [shim, name] = [new Shim(engine, root, path), id()];
    const io = { stdin: engine.input(), ...shim.pipes() };
    const pid = await shim.create(name, path, io, "--no-new-keyring");
    await shim.start(name);
    io.stdin.send("from the client\n");
    io.stdin.close();
    expect(await engine.exited(pid)).toBe(3);
    expect([await io.stdout.all(), await io.stderr.all()]).toEqual(["from the client\n", "to stderr\n"]);
    // Without a PID namespace of its own, for example; it may also come to a container that has ended.
    expect(await shim.kill(name, 9, true)).toBe("done");
    expect(await shim.kill(name, 15)).toBe("process already finished");
    await shim.remove(name);
    expect(await shim.kill(name, 15)).toBe("no such container");
    await shim.remove(name);
    expect(await shim.removeByForce(name)).toEqual({ status: 0, text: "" });
  });

  test("init is in its last cgroup when create returns, where the shim looks for memory kills", async () => {
    const engine = client();
    const path = bundle(waits);
    const shim = new Shim(engine, root, path);
    const pid = await shim.create(id(), path, shim.pipes());
    const own = cgroupOf("self", "memory");
    expect(cgroupOf(pid, "memory")).not.toBe(own);
    expect(existsSync(cgroupOf(pid, "memory"))).toBe(true);
    expect(cgroupOf(pid, "memory")).toContain(`runt-test-${process.pid}`);
  });

  test("a create that fails: the last error of the log is shown, and delete --force finds nothing to do", async () => {
    const engine = client();
    const path = bundle((config) => {
      config.process.args = ["/bin/nonexist"];
    });
    const [shim, name] = [new Shim(engine, root, path), id()];
    const io = shim.pipes();
    await expect(shim.create(name, path, io)).rejects.toThrow(
      /^OCI runtime create failed: .*exec: "\/bin\/nonexist": .*no such file or directory/,
    );
    expect(await io.stderr.all()).toContain(lastError(shim.log()));
    expect(existsSync(join(path, "init.pid"))).toBe(false);
    expect(await shim.removeByForce(name)).toEqual({ status: 0, text: "" });
    expect(await shim.kill(name, 9)).toBe("no such container");
  });

  test("a terminal: exactly one descriptor in one message with a payload, and nothing else said", async () => {
    const engine = client();
    const path = bundle((config) => {
      config.process.terminal = true;
      shell(config, "tty; read line; echo got $line; stty size; exit 4");
    });
    const [shim, name] = [new Shim(engine, root, path), id()];
    const socket = engine.consoleSocket(join(path, "pty.sock"));
    const pid = await shim.create(name, path, socket);
    const console = await socket.received;
    expect(console).toEqual({ descriptors: 1, payload: expect.stringMatching(/^.{1,4095}$/), more: false });
    await socket.terminal.size(33, 77);
    await shim.start(name);
    socket.terminal.send("hello\n");
    await socket.terminal.shows("33 77");
    expect(await engine.exited(pid)).toBe(4);
    expect(socket.terminal.text()).toMatch(/\/dev\/(pts\/0|console)\r\n(.*\r\n)*got hello\r\n33 77/);
  });

  test("exec: detached, a pid that the shim can wait for, pipes that end with it", async () => {
    const engine = client();
    const path = bundle(waits);
    const [shim, name] = [new Shim(engine, root, path), id()];
    await shim.create(name, path, shim.pipes());
    await shim.start(name);
    const io = { stdin: engine.input(), ...shim.pipes() };
    const pid = await shim.exec(name, "e1", processDocument(["/bin/sh", "-c", "cat; echo done >&2; exit 5"]), io);
    io.stdin.send("exec'd\n");
    io.stdin.close();
    expect(await engine.exited(pid)).toBe(5);
    expect([await io.stdout.all(), await io.stderr.all()]).toEqual(["exec'd\n", "done\n"]);
    const failing = shim.pipes();
    await expect(shim.exec(name, "e2", processDocument(["nowhere"]), failing)).rejects.toThrow(
      /^OCI runtime exec failed: exec failed: .*"nowhere": executable file not found in \$PATH/,
    );
    expect(existsSync(join(path, "e2.pid"))).toBe(false);
  });

  test("exec with a terminal", async () => {
    const engine = client();
    const path = bundle(waits);
    const [shim, name] = [new Shim(engine, root, path), id()];
    await shim.create(name, path, shim.pipes());
    await shim.start(name);
    const socket = engine.consoleSocket(join(path, "exec.sock"));
    const document = processDocument(["/bin/sh", "-c", "tty; exit 6"], { terminal: true, consoleSize: { height: 11, width: 22 } });
    const pid = await shim.exec(name, "e1", document, socket);
    expect(await socket.received).toMatchObject({ descriptors: 1, more: false });
    expect(await engine.exited(pid)).toBe(6);
    expect(await socket.terminal.all()).toMatch(/^\/dev\/pts\/\d+\r\n$/);
  });

  test("ps, pause, resume and update with the document on stdin", async () => {
    const engine = client();
    const path = bundle(waits);
    const [shim, name] = [new Shim(engine, root, path), id()];
    const pid = await shim.create(name, path, shim.pipes());
    await shim.start(name);
    expect(await shim.ps(name)).toEqual([pid]);
    await shim.pause(name);
    await expect(shim.exec(name, "e1", processDocument(["true"]), shim.pipes())).rejects.toThrow("cannot exec in a paused container");
    await shim.resume(name);
  });

  test("update takes effect in the kernel", async () => {
    const engine = client();
    const path = bundle(waits);
    const [shim, name] = [new Shim(engine, root, path), id()];
    const pid = await shim.create(name, path, shim.pipes());
    await shim.start(name);
    await shim.update(name, { pids: { limit: 123 } });
    expect(readFileSync(join(cgroupOf(pid, "pids"), "pids.max"), "utf8")).toBe("123\n");
    await expect(shim.update(name, { memory: { limit: "much" } })).rejects.toThrow("/memory/limit: expected integer");
  });

  test("a pod: the container of another bundle shares namespaces; kill --all of one without its own PID namespace kills what init left", async () => {
    const engine = client();
    const sandbox = bundle(waits);
    const [shim, pod, name] = [new Shim(engine, root, sandbox), id(), id()];
    const pause = await shim.create(pod, sandbox, shim.pipes());
    await shim.start(pod);
    const path = bundle((config) => {
      for (const namespace of config.linux.namespaces)
        if (["pid", "ipc", "uts"].includes(namespace.type)) namespace.path = `/proc/${pause}/ns/${namespace.type}`;
      config.hostname = undefined as unknown as string;
      shell(config, "sleep 1000 & readlink /proc/1/exe; exit 0");
    });
    // The call's directory is the sandbox's bundle, not this container's.
    const io = shim.pipes();
    const pid = await shim.create(name, path, io);
    const cgroup = cgroupOf(pid, "pids");
    await shim.start(name);
    expect(await engine.exited(pid)).toBe(0);
    expect(readFileSync(join(cgroup, "cgroup.procs"), "utf8")).not.toBe("");
    expect(await shim.kill(name, 9, true)).toBe("done");
    // The pipes are closed everywhere, so the shim's copy loops end.
    expect(await io.stdout.all()).toBe("/bin/busybox\n");
    await shim.remove(name);
    expect(existsSync(cgroup)).toBe(false);
    expect(await shim.kill(pod, 9)).toBe("done");
    expect(await engine.exited(pause)).toBe(137);
    await shim.remove(pod);
    expect(readdirSync(join(root, "default"))).toEqual([]);
  });

  test("the root file system is a mount of the shim's, which goes right after the delete", async () => {
    const engine = isolatedClient();
    const path = bundle((config) => {
      config.root.path = "rootfs";
      shell(config, "mount -t tmpfs none /mnt 2>/dev/null; exit 0");
    });
    mkdirSync(join(path, "rootfs"));
    expect(await engine.run(["/bin/mount", "--bind", rootfs(), join(path, "rootfs")])).toEqual({ status: 0, text: "" });
    const mounts = async () => (await engine.run(["/bin/cat", "/proc/self/mountinfo"])).text;
    const before = await mounts();
    const [shim, name] = [new Shim(engine, root, path), id()];
    const pid = await shim.create(name, path, shim.pipes(), "--no-pivot");
    await shim.start(name);
    expect(await engine.exited(pid)).toBe(0);
    await shim.remove(name);
    expect(await mounts()).toBe(before);
    expect(await engine.run(["/bin/umount", join(path, "rootfs")])).toEqual({ status: 0, text: "" });
  });

  test("between create and start the network namespace can be joined: that is when Docker attaches it", async () => {
    const engine = client();
    const path = bundle((config) => shell(config, "ip link show br0 >/dev/null && exit 12"));
    const [shim, name] = [new Shim(engine, root, path), id()];
    const pid = await shim.create(name, path, shim.pipes());
    const inside = ["/usr/bin/nsenter", `--net=/proc/${pid}/ns/net`, "ip", "link"];
    expect(await engine.run([...inside, "add", "br0", "type", "bridge"], { env: PATH })).toEqual({ status: 0, text: "" });
    await shim.start(name);
    expect(await engine.exited(pid)).toBe(12);
  });

  test("what other users of go-runc send: list, ps as a table, events, global flags of every kind", async () => {
    const engine = client();
    const path = bundle(waits);
    const [shim, name] = [new Shim(engine, root, path), id()];
    const pid = await shim.create(name, path, shim.pipes());
    await shim.start(name);
    expect(JSON.parse((await shim.call(["list", "--format=json"])).text)).toMatchObject([{ id: name, pid, status: "running" }]);
    expect((await shim.call(["ps", "--format", "table", name, "-o", "pid,args"])).text).toMatch(
      new RegExp(`^ *PID.*\n *${pid} /bin/sleep`),
    );
    expect(JSON.parse((await shim.call(["events", "--stats", name])).text)).toMatchObject({ type: "stats", id: name });
    expect(JSON.parse((await shim.call(["--rootless=false", "--debug", "state", name])).text)).toMatchObject({ id: name });
    const events = engine.pipe();
    const watching = await engine.start([RUNTIME, "--root", join(root, "default"), "events", "--interval=1s", name], {
      stdio: ["null", events, events],
    });
    await events.shows('"type":"stats"');
    expect(await shim.kill(name, 9)).toBe("done");
    await engine.exited(pid);
    await shim.remove(name);
    expect(await watching.status).toBe(0);
  });

  test("a checkpoint is taken between pause and resume; when it cannot be, the last error says why and the container goes on", async () => {
    const engine = client();
    const path = bundle(waits);
    const [shim, name] = [new Shim(engine, root, path), id()];
    const pid = await shim.create(name, path, shim.pipes());
    await shim.start(name);
    await shim.pause(name);
    const [image, work] = [join(path, "image"), join(path, "work")];
    for (const place of [image, work]) mkdirSync(place);
    const words = ["checkpoint", "--image-path", image, "--work-path", join(work, "criu-work"), "--leave-running", name];
    const { status, text } = await shim.call(words);
    if (status === 0) expect([text, readdirSync(image).length > 0]).toEqual(["", true]);
    else expect(text).toContain(lastError(shim.log()) ?? "an error in the log");
    const { status: resumed } = await shim.call(["resume", name]);
    expect(resumed).toBe(0);
    expect(await shim.ps(name)).toEqual([pid]);
  });

  test("features without global flags: a document on stdout with what CRI and Docker read", async () => {
    const engine = client();
    const [stdout, stderr] = [engine.pipe(), engine.pipe()];
    const { status } = await engine.start([RUNTIME, "features"], { stdio: ["null", stdout, stderr], env: PATH });
    expect(await status).toBe(0);
    expect(await stderr.all()).toBe("");
    const features = JSON.parse(await stdout.all());
    expect(features.mountOptions).toContain("rro");
    expect(features.linux.namespaces).toContain("user");
    expect(features.linux.mountExtensions.idmap.enabled).toBe(true);
  });

  test("Docker's --version: a line with a version and one with the commit; its generated script puts arguments before --root", async () => {
    const engine = client();
    const { status, text } = await engine.run([RUNTIME, "--version"], { env: PATH });
    expect(status).toBe(0);
    expect(text).toMatch(/^\S+ version \S+$/m);
    expect(text).toMatch(/^commit: /m);
    const path = join(directory, "empty");
    mkdirSync(path);
    const listing = await engine.run(["/bin/sh", "-c", `${RUNTIME} --debug "$@"`, "runtime", "--root", path, "list", "-q"], { env: PATH });
    expect(listing).toEqual({ status: 0, text: "" });
  });
});
