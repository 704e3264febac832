/** BuildKit's calls, with the default state root. */
import { describe, expect, test } from "vitest";
import { isRoot, isRunt, shell } from "../support/harness.ts";
import { BuildKit } from "./buildkit.ts";
import { lastError } from "./shim.ts";
import { processDocument, useClients, waits } from "./support.ts";

const SILENT = { status: 0, text: "" };

describe.skipIf(!isRoot || !isRunt)("BuildKit", () => {
  const { bundle, id, isolatedClient } = useClients();

  test.each([0, 1, 77])("a step: run --keep with status %i, then delete", async (wanted) => {
    const engine = isolatedClient();
    const path = bundle((config) => shell(config, `cat; echo step; echo log >&2; exit ${wanted}`));
    const [buildkit, name] = [new BuildKit(engine, path), id()];
    const [stdin, stdout, stderr] = [engine.input(), engine.pipe(), engine.pipe()];
    const { status } = await buildkit.run(name, path, [stdin, stdout, stderr]);
    stdin.send("in, ");
    stdin.close();
    expect(await status).toBe(wanted);
    expect([await stdout.all(), await stderr.all()]).toEqual(["in, step\n", "log\n"]);
    // --keep: there is something to delete, without force.
    expect(await buildkit.remove(name)).toEqual(SILENT);
    expect((await buildkit.remove(name)).text).toContain("does not exist");
  });

  test("a step on a terminal: its size changes with SIGWINCH to the runtime", async () => {
    const engine = isolatedClient();
    const path = bundle((config) => {
      config.process.terminal = true;
      shell(config, "trap 'stty size; exit 5' WINCH; stty size; while :; do sleep 0.05; done");
    });
    const [buildkit, name] = [new BuildKit(engine, path), id()];
    const terminal = engine.terminal(20, 60);
    const { pid, status } = await buildkit.run(name, path, [terminal, terminal, terminal]);
    await terminal.shows("20 60\r\n");
    await terminal.size(21, 61);
    // The runtime is not in the terminal's foreground group: only BuildKit tells it.
    process.kill(pid, "SIGWINCH");
    expect(await status).toBe(5);
    expect(await terminal.all()).toContain("21 61\r\n");
    expect(await buildkit.remove(name)).toEqual(SILENT);
  });

  test("signals to the runtime are the step's", async () => {
    const engine = isolatedClient();
    const path = bundle((config) => shell(config, "trap 'exit 6' TERM; echo ready; while :; do sleep 0.05; done"));
    const [buildkit, name] = [new BuildKit(engine, path), id()];
    const stdout = engine.pipe();
    const { pid, status } = await buildkit.run(name, path, ["null", stdout, "null"]);
    await stdout.shows("ready");
    process.kill(pid, "SIGTERM");
    expect(await status).toBe(6);
    expect(await buildkit.remove(name)).toEqual(SILENT);
  });

  test("an interactive exec: state until it runs, then exec in the foreground, whose pid file is there while it runs", async () => {
    const engine = isolatedClient();
    const path = bundle(waits);
    const [buildkit, name] = [new BuildKit(engine, path), id()];
    const step = await buildkit.run(name, path, ["null", "null", "null"]);
    await buildkit.untilRunning(name);
    const [stdin, stdout] = [engine.input(), engine.pipe()];
    const script = "trap 'echo usr1; exit 7' USR1; echo ready; while :; do sleep 0.05; done";
    const exec = await buildkit.exec(name, path, processDocument(["/bin/sh", "-c", script]), [stdin, stdout, stdout]);
    await stdout.shows("ready");
    // A cancelled exec is signalled directly.
    process.kill(await exec.process, "SIGUSR1");
    expect(await exec.status).toBe(7);
    expect(await stdout.all()).toBe("ready\nusr1\n");
    await buildkit.cancel(name);
    expect(await step.status).toBe(137);
    expect(await buildkit.remove(name)).toEqual(SILENT);
  });

  test("cancel during the start: kill 9 is repeated until there is something to kill", async () => {
    const engine = isolatedClient();
    const path = bundle(waits);
    const [buildkit, name] = [new BuildKit(engine, path), id()];
    // Not waited for: the first tries meet no container, or half of one.
    const step = buildkit.run(name, path, ["null", "null", "null"]);
    await buildkit.cancel(name);
    expect(await (await step).status).toBe(137);
    expect(await buildkit.remove(name)).toEqual(SILENT);
  });

  test("a step that cannot start: the words are in the log and on stderr, the status is the runtime's", async () => {
    const engine = isolatedClient();
    const path = bundle((config) => {
      config.process.args = ["/no/such/program"];
    });
    const [buildkit, name] = [new BuildKit(engine, path), id()];
    const stderr = engine.pipe();
    const { status } = await buildkit.run(name, path, ["null", "null", stderr]);
    expect(await status).toBe(1);
    expect(lastError(buildkit.log())).toContain('exec: "/no/such/program"');
    expect(await stderr.all()).toContain(lastError(buildkit.log()));
  });
});
