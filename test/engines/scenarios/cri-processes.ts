/** A container's life, and processes that are started in it. */
import assert from "node:assert/strict";
import type { Scenario } from "../scenario.ts";
import { criScenario, EXITED, eventually, RUNNING } from "./cri-pod.ts";

const KILLED = 137;
const IMMUNE = ["sh", "-c", "trap '' TERM; echo ready; while :; do sleep 0.1; done"];
const OBEDIENT = ["sh", "-c", "trap 'exit 3' TERM; echo ready; while :; do sleep 0.1; done"];

const life: readonly Scenario[] = [
  criScenario("container: created, running, exited, removed", async (node) => {
    const pod = await node.pod();
    const container = await pod.create(["sh", "-c", "until test -e /end; do sleep 0.1; done; exit 7"]);
    assert.equal((await container.status()).state, 0);
    await node.cri.call("StartContainer", { containerId: container.id });
    assert.equal((await container.status()).state, RUNNING);
    // Its status is of no interest: it may be ended together with the container.
    await container.exec("touch", "/end");
    const { exitCode, reason, startedAt, finishedAt } = await container.exited();
    assert.deepEqual({ exitCode, reason }, { exitCode: 7, reason: "Error" });
    assert(finishedAt > startedAt, `finished ${finishedAt - startedAt} ns after the start`);
    await container.remove();
    await assert.rejects(container.status(), /not found/);
  }),
  criScenario("container: command, arguments, environment, directory", async (node) => {
    const pod = await node.pod();
    const text = await pod.output("", {
      config: {
        command: ["sh", "-c"],
        args: ['echo "$A $PWD $0"', "zero"],
        env: [{ key: "A", value: "a b" }],
        workingDirectory: "/usr/bin",
      },
    });
    assert.equal(text, "a b /usr/bin zero\n");
  }),
  criScenario("container: logs", async (node) => {
    const pod = await node.pod();
    const container = await pod.start(["sh", "-c", "echo one; echo two >&2; printf three"]);
    await container.exited();
    await eventually(() => assert.equal(container.log("stdout"), "one\nthree"));
    assert.equal(container.log("stderr"), "two\n");
    for (const line of container.logLines()) assert.match(line, /^\d{4}-\d\d-\d\dT[\d:.]+\S+ std(out|err) [FP] /);
  }),
  criScenario("container: on a terminal", async (node) => {
    const pod = await node.pod();
    const container = await pod.start(["sh", "-c", "tty; test -t 2 && echo terminal"], { config: { tty: true, stdin: true } });
    await container.exited();
    await eventually(() => assert.match(container.log(), /^\/dev\/pts\/0\r?\nterminal\r?\n$/));
  }),
  criScenario("container: killed, and another attempt", async (node) => {
    const pod = await node.pod();
    const first = await pod.start(undefined, { name: "again" });
    process.kill(await first.pid(), "SIGKILL");
    assert.equal((await first.exited()).exitCode, KILLED);
    const second = await pod.start(undefined, { name: "again", attempt: 1 });
    await first.remove();
    assert.equal(await second.shell("echo here"), "here");
  }),
  criScenario("stop: TERM is enough", async (node) => {
    const pod = await node.pod();
    const container = await pod.start(OBEDIENT);
    await eventually(() => assert.equal(container.log(), "ready\n"));
    const began = performance.now();
    await container.stop(30);
    const took = performance.now() - began;
    assert(took < 10_000, `stopped after ${took} ms`);
    assert.equal((await container.status()).exitCode, 3);
  }),
  criScenario("stop: KILL after the grace", async (node) => {
    const pod = await node.pod();
    const container = await pod.start(IMMUNE);
    await eventually(() => assert.equal(container.log(), "ready\n"));
    const began = performance.now();
    await container.stop(1);
    const took = performance.now() - began;
    assert(took >= 900, `stopped after ${took} ms`);
    const { state, exitCode } = await container.status();
    assert.deepEqual({ state, exitCode }, { state: EXITED, exitCode: KILLED });
    await container.stop(1);
  }),
  criScenario("unknown command", async (node) => {
    const pod = await node.pod();
    const start = (...command: string[]) => pod.start(command);
    await assert.rejects(start("no-such-program"), /exec: \\?"no-such-program\\?": executable file not found in \$PATH/);
    await assert.rejects(start("/no/such/program"), /\/no\/such\/program.*no such file or directory/);
    await assert.rejects(start("/etc/passwd"), /\/etc\/passwd.*permission denied/);
    for (const container of pod.containers) {
      const { state, reason, exitCode } = await container.status();
      assert.deepEqual({ state, reason, exitCode }, { state: EXITED, reason: "StartError", exitCode: 128 });
    }
  }),
];

const exec: readonly Scenario[] = [
  criScenario("exec sync", async (node) => {
    const container = await (await node.pod()).start(undefined, { config: { env: [{ key: "A", value: "b" }], workingDirectory: "/tmp" } });
    assert.deepEqual(await container.exec("sh", "-c", "echo $A $PWD; echo wrong >&2; exit 5"), {
      stdout: "b /tmp\n",
      stderr: "wrong\n",
      exitCode: 5,
    });
    assert.equal((await container.exec("sh", "-c", "kill -9 $$")).exitCode, KILLED);
    const { stdout } = await container.exec("sh", "-c", "head -c 1000000 /dev/zero | tr '\\0' x");
    assert.equal(stdout.length, 1_000_000);
  }),
  criScenario("exec sync: unknown command", async (node) => {
    const container = await (await node.pod()).start();
    await assert.rejects(container.exec("no-such-program"), /executable file not found in \$PATH/);
    await assert.rejects(container.exec("/no/such/program"), /no such file or directory/);
    assert.equal(await container.shell("echo unharmed"), "unharmed");
  }),
  criScenario("exec sync: time limit", async (node) => {
    const container = await (await node.pod()).start();
    await assert.rejects(
      node.cri.call("ExecSync", { containerId: container.id, command: ["sleep", "4326"], timeout: 1 }),
      /timeout|deadline exceeded/i,
    );
    await eventually(async () => assert.doesNotMatch(await container.shell("ps -o args"), /^sleep 4326/m));
  }),
  criScenario("exec: many at once", async (node) => {
    const container = await (await node.pod()).start();
    const words = await Promise.all(Array.from({ length: 20 }, (_, index) => container.shell(`echo word ${index}`)));
    assert.deepEqual(
      words,
      words.map((_, index) => `word ${index}`),
    );
    await eventually(async () => assert.equal(await container.shell("ls -d /proc/[0-9]* | wc -l"), "4"));
  }),
  criScenario("exec streaming", async (node) => {
    const container = await (await node.pod()).start();
    const command = ["sh", "-c", "read a; echo got $a; echo wrong >&2; exit 6"];
    const stream = await container.stream({ command, stdin: true, stdout: true, stderr: true });
    stream.write("word\n");
    assert.deepEqual(await stream.ended, { stdout: "got word\n", stderr: "wrong\n", exitCode: 6 });
  }),
  criScenario("exec streaming: terminal, and its size", async (node) => {
    const container = await (await node.pod()).start();
    const stream = await container.stream({ command: ["sh"], tty: true, stdin: true, stdout: true });
    stream.resize(101, 37);
    // Size and command come by different ways.
    await eventually(async () => {
      stream.write("stty size; tty\n");
      // Without a size yet, stty says so in place of it.
      await stream.until(/^\/dev\/pts\/\d+\r$/m);
      assert.match(stream.stdout, /37 101/);
    });
    stream.write("exit 9\n");
    assert.equal((await stream.ended).exitCode, 9);
  }),
  criScenario("exec streaming: unknown command", async (node) => {
    const container = await (await node.pod()).start();
    const stream = await container.stream({ command: ["no-such-program"], stdout: true, stderr: true });
    await assert.rejects(stream.ended, /executable file not found in \$PATH/);
  }),
  criScenario("attach", async (node) => {
    const pod = await node.pod();
    const container = await pod.start(["sh", "-c", "while read a; do echo got $a; done"], { config: { stdin: true } });
    const stream = await container.attach({ stdin: true, stdout: true, stderr: true });
    stream.write("word\n");
    await stream.until(/^got word\n/);
    stream.close();
    await eventually(() => assert.equal(container.log(), "got word\n"));
    assert.equal((await container.status()).state, RUNNING);
  }),
];

export const processScenarios: readonly Scenario[] = [...life, ...exec];
