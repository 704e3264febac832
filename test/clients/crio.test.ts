/** CRI-O's calls: state after every step, kill by number and by name, exec in the foreground with pipes and on a terminal. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { cgroupOf } from "../support/cgroups.ts";
import { isRoot, isRunt, shell } from "../support/harness.ts";
import { Crio, handlerFeatures, isNotFound } from "./crio.ts";
import { processDocument, useClients, waits } from "./support.ts";

const SILENT = { status: 0, text: "" };

describe.skipIf(!isRoot || !isRunt)("CRI-O", () => {
  const { bundle, client, id, root } = useClients();

  async function running(path: string) {
    const engine = client();
    const [crio, name] = [new Crio(engine, root), id()];
    const { pid } = await crio.create(name, path);
    expect(await crio.call("start", name)).toEqual(SILENT);
    return { engine, crio, name, pid };
  }

  test("a container's life with the state after each step", async () => {
    const engine = client();
    const [crio, name] = [new Crio(engine, root), id()];
    const path = bundle((config) => shell(config, "read line; exit 2"));
    await expect(crio.state(name)).rejects.toThrow("does not exist");
    const { pid, stdout } = await crio.create(name, path);
    expect(await crio.state(name)).toMatchObject({ status: "created", pid });
    expect(await crio.call("start", name)).toEqual(SILENT);
    expect(await engine.exited(pid)).toBe(2);
    // Stopped at once: CRI-O waits for conmon's exit file only then.
    expect(await crio.state(name)).toMatchObject({ status: "stopped", pid: 0 });
    expect(await crio.state(name)).toMatchObject({ status: "stopped", pid: 0 });
    expect(await stdout.all()).toBe("");
    expect(await crio.call("delete", "--force", name)).toEqual(SILENT);
    expect(await crio.call("delete", "--force", name)).toEqual(SILENT);
  });

  test("stop: the signal as a number, then KILL by name until it is dead; -a for a container without its own PID namespace", async () => {
    const { engine, crio, name, pid } = await running(bundle((config) => shell(config, "trap '' TERM; while :; do sleep 0.05; done")));
    expect(await crio.call("kill", name, "15")).toEqual(SILENT);
    expect(await crio.call("kill", name, "KILL")).toEqual(SILENT);
    expect(await engine.exited(pid)).toBe(137);
    expect(isNotFound(await crio.call("kill", name, "KILL"))).toBe(true);
    expect(await crio.call("kill", "-a", name, "9")).toEqual(SILENT);
  });

  test("pause, resume, and update with its document named by a word of its own", async () => {
    const { crio, name, pid } = await running(bundle(waits));
    expect(await crio.call("pause", name)).toEqual(SILENT);
    expect(await crio.state(name)).toMatchObject({ status: "paused", pid });
    expect(await crio.call("resume", name)).toEqual(SILENT);
    expect(await crio.state(name)).toMatchObject({ status: "running", pid });
    expect(await crio.update(name, { pids: { limit: 55 } })).toEqual(SILENT);
    expect(readFileSync(join(cgroupOf(pid, "pids"), "pids.max"), "utf8")).toBe("55\n");
  });

  test("a failed create: stderr is the whole story, and there is no pid file", async () => {
    const crio = new Crio(client(), root);
    const path = bundle((config) => {
      config.process.args = ["/bin/nonexist"];
    });
    await expect(crio.create(id(), path)).rejects.toThrow(
      /^container create failed: .*exec: "\/bin\/nonexist": .*no such file or directory/,
    );
    expect(existsSync(join(path, "pidfile"))).toBe(false);
  });

  test("exec through conmon, as probes: output on the pipe, status from the process", async () => {
    const path = bundle(waits);
    const { engine, crio, name } = await running(path);
    const probe = await crio.execSync(name, path, processDocument(["/bin/sh", "-c", "echo healthy; exit 3"]));
    expect(await engine.exited(probe.pid)).toBe(3);
    expect(await probe.stdout.all()).toBe("healthy\n");
    await expect(crio.execSync(name, path, processDocument(["nowhere"]))).rejects.toThrow("executable file not found in $PATH");
  });

  test("exec in the foreground with pipes: input, both outputs, end of file, status", async () => {
    const path = bundle(waits);
    const { engine, crio, name } = await running(path);
    const [stdin, stdout, stderr] = [engine.input(), engine.pipe(), engine.pipe()];
    const { status } = await crio.exec(name, path, processDocument(["/bin/sh", "-c", "cat; echo err >&2; exit 21"]), [
      stdin,
      stdout,
      stderr,
    ]);
    stdin.send("typed\n");
    stdin.close();
    expect(await status).toBe(21);
    expect([await stdout.all(), await stderr.all()]).toEqual(["typed\n", "err\n"]);
  });

  test("exec in the foreground on a terminal of its own: an inner one, its size and its changes, the status", async () => {
    const path = bundle(waits);
    const { engine, crio, name } = await running(path);
    const terminal = engine.terminal(31, 101);
    const script = "trap 'stty size' WINCH; tty; stty size; while ! read line; do :; done; echo read $line; exit 22";
    const document = processDocument(["/bin/sh", "-c", script], { terminal: true });
    const { status } = await crio.exec(name, path, document, [terminal, terminal, terminal]);
    await terminal.shows(/\/dev\/pts\/\d+\r\n31 101\r\n/);
    await terminal.size(12, 34);
    await terminal.shows("12 34\r\n");
    terminal.send("enough\n");
    expect(await status).toBe(22);
    expect(await terminal.all()).toContain("read enough\r\n");
  });

  test("exec on a terminal: an interrupt typed there reaches the process and not the runtime", async () => {
    const path = bundle(waits);
    const { engine, crio, name } = await running(path);
    const terminal = engine.terminal(24, 80);
    const script = "trap 'echo interrupted; exit 23' INT; echo ready; while :; do sleep 0.05; done";
    const { status } = await crio.exec(name, path, processDocument(["/bin/sh", "-c", script], { terminal: true }), [
      terminal,
      terminal,
      terminal,
    ]);
    await terminal.shows("ready");
    terminal.send("\x03");
    expect(await status).toBe(23);
    expect(await terminal.all()).toContain("interrupted");
  });

  test("a process that cannot be executed in the foreground: status 255 and words on stderr", async () => {
    const path = bundle(waits);
    const { engine, crio, name } = await running(path);
    const [stdin, stdout, stderr] = [engine.input(), engine.pipe(), engine.pipe()];
    const { status } = await crio.exec(name, path, processDocument(["nowhere"]), [stdin, stdout, stderr]);
    expect(await status).toBe(255);
    expect([await stdout.all(), await stderr.all()]).toEqual(["", expect.stringContaining("executable file not found in $PATH")]);
  });

  test("start-up: --version and features with both outputs on one pipe", async () => {
    const crio = new Crio(client(), root);
    expect((await crio.call("--version")).text).toMatch(/ version \d/);
    expect(handlerFeatures(await crio.call("features"))).toEqual({ recursiveReadOnly: true, userNamespaces: true });
  });

  test("the state of a killed container is stopped by the time its parent could know", async () => {
    const { engine, crio, name, pid } = await running(bundle(waits));
    process.kill(pid, "SIGKILL");
    await engine.exited(pid);
    expect(await crio.state(name)).toMatchObject({ status: "stopped" });
  });
});
