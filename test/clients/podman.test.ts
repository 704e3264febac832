/** Podman's calls: conmon's with a JSON log, and libpod's own without PATH and HOME, all with the default state root. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { cgroupOf } from "../support/cgroups.ts";
import { isRoot, isRunt, RUNTIME, shell } from "../support/harness.ts";
import { Libpod, OciError } from "./libpod.ts";
import { processDocument, useClients, waits } from "./support.ts";

const SILENT = { status: 0, text: "" };

describe.skipIf(!isRoot || !isRunt)("Podman", () => {
  const { bundle, directory, id, isolatedClient, rootfs } = useClients();

  test("run --rm: conmon's create, start, delete --force", async () => {
    const client = isolatedClient();
    const [podman, name] = [new Libpod(client), id()];
    const path = bundle((config) => shell(config, "cat; exit 9"));
    const stdin = client.input();
    const { pid, stdout } = await podman.create(name, path, { stdin });
    // Memory kills are looked for in the cgroup that the process has now.
    expect(cgroupOf(pid, "memory")).toContain(`runt-test-${process.pid}`);
    expect(await podman.call("start", name)).toEqual(SILENT);
    stdin.send("through conmon\n");
    stdin.close();
    expect(await client.exited(pid)).toBe(9);
    expect(await stdout.all()).toBe("through conmon\n");
    expect(await podman.call("delete", "--force", name)).toEqual(SILENT);
    // Podman's cleanup does it once more, blindly.
    expect(await podman.call("delete", "--force", name)).toEqual(SILENT);
    expect(existsSync(join(path, "oci-log")) && readFileSync(join(path, "oci-log"), "utf8")).toBeFalsy();
  });

  test("stop: the signal, then 9, as numbers; pause, resume, update from a file", async () => {
    const client = isolatedClient();
    const [podman, name] = [new Libpod(client), id()];
    const path = bundle((config) => shell(config, "trap '' TERM; while :; do sleep 0.05; done"));
    const { pid } = await podman.create(name, path);
    expect(await podman.call("start", name)).toEqual(SILENT);
    expect(await podman.call("pause", name)).toEqual(SILENT);
    expect(await podman.call("resume", name)).toEqual(SILENT);
    const resources = join(directory, "podman123");
    writeFileSync(resources, JSON.stringify({ pids: { limit: 77 } }));
    expect(await podman.call("update", `--resources=${resources}`, name)).toEqual(SILENT);
    expect(readFileSync(join(cgroupOf(pid, "pids"), "pids.max"), "utf8")).toBe("77\n");
    expect(await podman.call("kill", name, "15")).toEqual(SILENT);
    expect(await podman.call("kill", "--all", name, "9")).toEqual(SILENT);
    expect(await client.exited(pid)).toBe(137);
    expect((await podman.call("kill", name, "9")).text).toContain("container not running");
  });

  test("a terminal: conmon gets one descriptor, only stderr is a pipe", async () => {
    const client = isolatedClient();
    const [podman, name] = [new Libpod(client), id()];
    const path = bundle((config) => {
      config.process.terminal = true;
      shell(config, "test -t 0 && test -t 1 && test -t 2 && echo terminal");
    });
    const console = client.consoleSocket(join(path, "term"));
    const { pid, stderr } = await podman.create(name, path, { console });
    expect(await console.received).toMatchObject({ descriptors: 1, more: false });
    expect(await podman.call("start", name)).toEqual(SILENT);
    expect(await client.exited(pid)).toBe(0);
    expect(await console.terminal.all()).toBe("terminal\r\n");
    expect(await stderr.all()).toBe("");
  });

  test.each([
    ["a program that is not there", ["nowhere"], 127],
    ["a program that is not there, by path", ["/no/where"], 127],
    ["a program without a name", [""], 127],
    ["a directory", ["/etc"], 126],
    ["a file that is no program", ["/etc/passwd"], 126],
  ])("the status of podman run for %s", async (_, args, status) => {
    const [podman, name] = [new Libpod(isolatedClient()), id()];
    const path = bundle((config) => {
      config.process.args = args;
    });
    const error = await podman.create(name, path).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(OciError);
    expect([(error as OciError).exitStatus, (error as OciError).message]).toEqual([status, expect.stringMatching(/^error: /)]);
    expect(await podman.call("delete", "--force", name)).toEqual(SILENT);
  });

  test("exec: detached under conmon with a JSON log, preserved descriptors, and the words for 127 and 126", async () => {
    const client = isolatedClient();
    const [podman, name] = [new Libpod(client), id()];
    const path = bundle(waits);
    await podman.create(name, path);
    expect(await podman.call("start", name)).toEqual(SILENT);
    const kept = join(directory, "kept");
    const { pid } = await podman.exec(name, path, processDocument(["/bin/sh", "-c", "echo to the third >&3; exit 8"]), {
      preserved: [client.file(kept)],
    });
    expect(await client.exited(pid)).toBe(8);
    expect(readFileSync(kept, "utf8")).toBe("to the third\n");
    for (const [args, cwd, status] of [
      [["nowhere"], "/", 127],
      [["/etc"], "/", 126],
      [["true"], "/missing", 127],
    ] as const) {
      const error = await podman.exec(name, path, processDocument(args, { cwd })).catch((reason: unknown) => reason);
      expect([(error as OciError).exitStatus, (error as OciError).message]).toEqual([status, expect.stringMatching(/^error: /)]);
    }
  });

  test("socket activation: LISTEN_FDS reach the program, which is their LISTEN_PID", async () => {
    const client = isolatedClient();
    const [podman, name] = [new Libpod(client), id()];
    const path = bundle((config) => shell(config, 'echo "$LISTEN_FDS $LISTEN_PID" >&3'));
    const file = join(directory, "listening");
    const { pid } = await podman.create(name, path, { listening: [client.file(file)] });
    expect(await podman.call("start", name)).toEqual(SILENT);
    expect(await client.exited(pid)).toBe(0);
    expect(readFileSync(file, "utf8")).toBe("1 1\n");
  });

  test("conmon ends a process with all that it has started by its process group", async () => {
    const client = isolatedClient();
    const [podman, name] = [new Libpod(client), id()];
    const path = bundle((config) => shell(config, "sleep 1000; true"));
    const { pid } = await podman.create(name, path);
    expect(await podman.call("start", name)).toEqual(SILENT);
    const exec = await podman.exec(name, path, processDocument(["/bin/sh", "-c", "sleep 1000; true"]));
    for (const each of [exec.pid, pid]) {
      process.kill(-each, "SIGKILL");
      expect(await client.exited(each)).toBe(137);
    }
    // Nothing that it had started holds its outputs.
    expect(await exec.stdout.all()).toBe("");
  });

  test("whether there is checkpoint and restore: help, and what a flag without its value is called", async () => {
    const podman = new Libpod(isolatedClient());
    expect((await podman.call("checkpoint", "--help")).status).toBe(0);
    const { status, text } = await podman.call("restore", "--lsm-mount-context");
    expect(status).not.toBe(0);
    expect(text).toMatch(/flag needs an argument|requires an argument/);
  });

  test("info and probes: --version, and a --cgroup-manager that there is only for some runtimes", async () => {
    const client = isolatedClient();
    const [podman, name] = [new Libpod(client), id()];
    expect((await podman.call("--version")).text).toMatch(/ version /);
    const path = bundle((config) => {
      config.linux.namespaces = config.linux.namespaces.filter(({ type }) => type !== "cgroup");
      config.root.path = rootfs();
      shell(config, "true");
    });
    const command = [RUNTIME, "--cgroup-manager", "disabled", "create", "--bundle", path, "--pid-file", join(path, "pid"), name];
    const [stdout, stderr] = [client.pipe(), client.pipe()];
    const { status } = await client.start(command, { stdio: ["null", stdout, stderr] });
    expect([await status, stderr.text()]).toEqual([0, ""]);
    expect(await podman.call("start", name)).toEqual(SILENT);
    expect(await client.exited(Number(readFileSync(join(path, "pid"), "utf8")))).toBe(0);
  });
});
