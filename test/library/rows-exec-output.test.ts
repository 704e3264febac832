/** Row X21: output, deadline and status of what runs in a container besides its program. */
import { readdirSync } from "node:fs";
import { describe, expect } from "vitest";
import { cgroupOf } from "../support/cgroups.ts";
import { OWN_SECONDS, sleepers } from "./sleepers.ts";
import { isGone, isRoot, row, useExecutors } from "./support.ts";

describe.skipIf(!isRoot)("executor: output of exec (needs root)", () => {
  const { executor, script } = useExecutors();

  row("X21", "exec: the last bytes of its output, joined or separate, and the size of the ring", async () => {
    const one = executor();
    await one.launch(script("exec sleep 1000", { env: { MINE: "a=b" } }));
    const digits = "seq 1 3000 | head -c 10000";
    const whole = (await one.exec({ cmd: "sh", args: ["-c", digits], ringBytes: 20_000 })).output.toString();
    expect(whole).toHaveLength(10_000);
    const last = await one.exec({ cmd: "sh", args: ["-c", digits] });
    expect(last).toMatchObject({ exitCode: 0, timedOut: false, outputBytes: 10_000 });
    expect(last.output.toString()).toBe(whole.slice(-4096));
    const apart = await one.exec({
      cmd: "sh",
      args: ["-c", "echo out $MINE $X; cat; echo err >&2; exit 5"],
      separate: true,
      env: { X: "x=y" },
      input: "in\n",
    });
    expect([apart.output.toString(), apart.stderr?.toString(), apart.exitCode]).toEqual(["out a=b x=y\nin\n", "err\n", 5]);
    expect((await one.exec({ cmd: "id", args: ["-u"], user: "user" })).output.toString()).toBe("1000\n");
    expect((await one.exec({ cmd: "sh", args: ["-c", "kill -SEGV $$"] })).exitCode).toBe(139);
    await expect(one.exec({ cmd: "nowhere" })).rejects.toMatchObject({ name: "ProgramError", verb: "exec", reason: "not-found" });
  });

  row("X21", "exec: the deadline ends the program with all its children, including a daemon, and keeps the output", async () => {
    for (const namespaces of [{}, { pid: "host" }] as const) {
      const one = executor();
      const { pid } = await one.launch(script("exec sleep 1000", { namespaces }));
      const from = performance.now();
      const result = await one.exec({
        cmd: "sh",
        args: ["-c", "echo partial; setsid sleep $0 & (setsid sleep $0 &); sleep $0", String(OWN_SECONDS)],
        // The program has to come to its output before.
        deadlineMs: 5_000,
      });
      expect(result).toMatchObject({ exitCode: null, timedOut: true });
      expect(result.output.toString()).toBe("partial\n");
      expect(performance.now() - from).toBeLessThan(60_000);
      expect(sleepers(OWN_SECONDS)).toEqual([]);
      expect(isGone(pid)).toBe(false);
      expect(one.state).toBe("running");
    }
  });

  row("X21", "exec: 100 at once, each with its own output and status", async () => {
    const one = executor();
    const { pid } = await one.launch(script("exec sleep 1000"));
    const results = await Promise.all(
      Array.from({ length: 100 }, (_, index) => one.exec({ cmd: "sh", args: ["-c", `echo number ${index}; exit ${index}`] })),
    );
    expect(results.map(({ output }) => output.toString())).toEqual(results.map((_, index) => `number ${index}\n`));
    expect(results.map(({ exitCode }) => exitCode)).toEqual(results.map((_, index) => index));
    // No cgroup of an exec is left.
    const directory = cgroupOf(pid, "freezer");
    expect(readdirSync(directory, { withFileTypes: true }).filter((entry) => entry.isDirectory())).toEqual([]);
    await one.shutdown({ graceMs: 0 });
  });
});
