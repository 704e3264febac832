/** Buildah's calls. */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isRoot, isRunt, shell } from "../support/harness.ts";
import { Buildah } from "./buildah.ts";
import { useClients, waits } from "./support.ts";

const SILENT = { status: 0, text: "" };

describe.skipIf(!isRoot || !isRunt)("Buildah", () => {
  const { bundle, client, id, root } = useClients();

  test("RUN: create, start, state until it has stopped, delete without force", async () => {
    const engine = client();
    const path = bundle((config) => shell(config, "echo building; sleep 0.3; exit 11"));
    const [buildah, name] = [new Buildah(engine, root, path), id()];
    const [stdout, stderr] = [engine.pipe(), engine.pipe()];
    const pid = await buildah.create(name, ["null", stdout, stderr]);
    expect(await buildah.call("start", name)).toEqual(SILENT);
    expect(await buildah.untilStopped(name)).toBeGreaterThan(1);
    expect(await engine.exited(pid)).toBe(11);
    expect([await stdout.all(), await stderr.all()]).toEqual(["building\n", ""]);
    expect(await buildah.call("delete", name)).toEqual(SILENT);
  });

  test("a container whose end nobody has waited for is stopped too", async () => {
    const engine = client();
    const path = bundle((config) => shell(config, "exit 0"));
    const [buildah, name] = [new Buildah(engine, root, path), id()];
    await buildah.create(name, ["null", "null", engine.pipe()]);
    expect(await buildah.call("start", name)).toEqual(SILENT);
    await buildah.untilStopped(name);
    expect(await buildah.call("delete", name)).toEqual(SILENT);
  });

  test.each([
    ["without a signal: TERM", [], 143],
    ["by name", ["SIGKILL"], 137],
  ])("kill %s", async (_, signal, status) => {
    const engine = client();
    // PID 1 of a namespace dies of TERM only when it does something about it.
    const path = bundle((config) => {
      config.linux.namespaces = config.linux.namespaces.filter(({ type }) => type !== "pid");
      waits(config);
    });
    const [buildah, name] = [new Buildah(engine, root, path), id()];
    const pid = await buildah.create(name, ["null", "null", engine.pipe()]);
    expect(await buildah.call("start", name)).toEqual(SILENT);
    expect(await buildah.call("kill", name, ...signal)).toEqual(SILENT);
    expect(await engine.exited(pid)).toBe(status);
    await buildah.untilStopped(name);
    expect(await buildah.call("delete", name)).toEqual(SILENT);
  });

  test("buildah run -t: a console socket in the bundle", async () => {
    const engine = client();
    const path = bundle((config) => {
      config.process.terminal = true;
      shell(config, "tty; exit 1");
    });
    const [buildah, name] = [new Buildah(engine, root, path), id()];
    const console = engine.consoleSocket(join(path, "console.sock"));
    const pid = await buildah.create(name, ["null", "null", engine.pipe()], console);
    expect(await console.received).toMatchObject({ descriptors: 1, more: false });
    expect(await buildah.call("start", name)).toEqual(SILENT);
    expect(await engine.exited(pid)).toBe(1);
    expect(await console.terminal.all()).toMatch(/^\/dev\/\S+\r\n$/);
    expect(await buildah.call("delete", name)).toEqual(SILENT);
  });

  test("a failed create ends the build with the words on stderr, and nothing is to be deleted", async () => {
    const engine = client();
    const path = bundle((config) => {
      config.process.args = ["nowhere"];
    });
    const [buildah, name] = [new Buildah(engine, root, path), id()];
    await expect(buildah.create(name, ["null", "null", engine.pipe()])).rejects.toThrow("executable file not found in $PATH");
    expect((await buildah.call("delete", name)).text).toContain("does not exist");
  });
});
