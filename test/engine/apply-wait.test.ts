/** `apply --wait`: the tasks do what the file says when it returns. What containers leave in a shared directory is the witness. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isRoot, scriptTask, sharedIn, until, useEngine } from "./support.ts";
import { taskText } from "./tasks.ts";

describe.skipIf(!isRoot)("apply --wait (needs root)", () => {
  const scene = useEngine();
  const serving = (name: string, shared: string, more = "") =>
    scriptTask(scene.rootfs(), {
      ...{ name, shared, script: `touch /shared/${name}; trap 'exit 0' TERM; sleep 1000 & wait` },
      container: `healthCheck: { command: ["/bin/sh", "-c", "test -e /shared/healthy"], interval: 100ms, retries: 1000 }\n    ${more}`,
    });

  test("it returns when checks have succeeded and one-shots have ended, and at once where they have", async () => {
    const { directory } = sharedIn(scene, "wait");
    await scene.daemon();
    const once = scriptTask(scene.rootfs(), { name: "once", script: "sleep 1; touch /shared/done", shared: directory });
    const file = scene.file("wait.yaml", serving("web", directory) + once);
    let answer: Awaited<ReturnType<typeof scene.ctl>> | undefined;
    const asked = scene.ctl("apply", "-f", file, "--wait").then((one) => (answer = one));
    await until(() => existsSync(join(directory, "web")) && existsSync(join(directory, "done")));
    expect(answer).toBeUndefined();
    writeFileSync(join(directory, "healthy"), "");
    expect(await asked).toEqual({
      status: 0,
      stdout: "task web created\ntask once created\ntask web is ready\ntask once is ready\n",
      stderr: "",
    });
    expect(await scene.ctl("apply", "-f", file, "--wait")).toMatchObject({
      status: 0,
      stdout: "task web unchanged\ntask once has succeeded already\ntask web is ready\n",
    });
  });

  test("one that fails ends the wait, and what is not ready at the end of the time is named; both end with 1", async () => {
    const { directory } = sharedIn(scene, "fails");
    await scene.daemon();
    const late = scene.file("late.yaml", serving("late", directory));
    expect(await scene.ctl("apply", "-f", late, "--wait", "--timeout", "1s")).toEqual({
      status: 1,
      stdout: "task late created\n",
      stderr: expect.stringMatching(/^runtctl: task late is not ready: healthCheck of main is UNKNOWN\n$|UNHEALTHY\n$|main is \w+\n$/),
    });
    // It has no checks, and so it is ready until it fails.
    const failing = scriptTask(scene.rootfs(), { name: "failing", script: "sleep 0.5; exit 3" });
    const both = scene.file("both.yaml", serving("other", directory) + failing);
    const { status, stderr } = await scene.ctl("apply", "-f", both, "--wait", "--timeout", "5m");
    expect([status, stderr]).toEqual([1, expect.stringMatching(/task failing has failed: .*3/)]);
    // A task that goes on without a container does not become what its file says. A check that never succeeds: the task would be ready before `side` ends.
    const main = { name: "main", fields: { healthCheck: { command: ["/bin/sh", "-c", "exit 1"], interval: "100ms", retries: 1000 } } };
    const sidecars = [main, { name: "side", script: "exit 4", fields: { essential: false } }];
    const less = scene.file("less.yaml", taskText(scene.rootfs(), "less", sidecars));
    expect(await scene.ctl("apply", "-f", less, "--wait", "--timeout", "5m")).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/less has failed: side has stopped.*4/),
    });
    // Nor does one whose container has used up its restarts.
    const thrice = { essential: false, restart: { maximumCount: 1, backoff: { initial: "10ms" } } };
    const spent = scene.file("spent.yaml", taskText(scene.rootfs(), "spent", [main, { name: "side", script: "exit 4", fields: thrice }]));
    expect(await scene.ctl("apply", "-f", spent, "--wait", "--timeout", "5m")).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/spent has failed: side has stopped.*4/),
    });
    // The wait has ended, and nothing else.
    expect(scene.list().map(({ id }) => id.split(".")[1])).toContain("late");
    expect((await scene.ctl("apply", "-f", late, "--timeout", "1s")).status).toBe(2);
    expect((await scene.ctl("apply", "-f", late, "--wait", "--timeout", "soon")).status).toBe(2);
  });

  test("a startup check is told when it succeeds, and ends the wait", async () => {
    const { directory } = sharedIn(scene, "startup");
    await scene.daemon();
    const check = 'startupCheck: { command: ["/bin/sh", "-c", "test -e /shared/up"], interval: 100ms, retries: 1000 }';
    const script = "touch /shared/runs; trap 'exit 0' TERM; sleep 1000 & wait";
    const file = scene.file("up.yaml", scriptTask(scene.rootfs(), { name: "up", shared: directory, script, container: check }));
    const asked = scene.ctl("apply", "-f", file, "--wait");
    await until(() => existsSync(join(directory, "runs")));
    await until(async () => /^Readiness: +waits: startupCheck of main is UN/m.test((await scene.ctl("describe", "up")).stdout));
    writeFileSync(join(directory, "up"), "");
    expect(await asked).toMatchObject({ status: 0, stdout: "task up created\ntask up is ready\n" });
    expect((await scene.ctl("describe", "up")).stdout).toMatch(/startup of container main HEALTHY$/m);
  });

  test("a pod is waited for until it is Ready", async () => {
    const { directory } = sharedIn(scene, "pod");
    await scene.daemon();
    const pod = {
      ...{ apiVersion: "v1", kind: "Pod", metadata: { name: "pod", annotations: { "runt.dev/rootfs.a": scene.rootfs() } } },
      spec: {
        terminationGracePeriodSeconds: 1,
        volumes: [{ name: "shared", hostPath: { path: directory } }],
        containers: [
          {
            ...{ name: "a", image: "none", command: ["/bin/sh", "-c", "touch /shared/runs; while :; do sleep 0.05; done"] },
            volumeMounts: [{ name: "shared", mountPath: "/shared" }],
            readinessProbe: { exec: { command: ["/bin/sh", "-c", "test -e /shared/ready"] }, periodSeconds: 1 },
          },
        ],
      },
    };
    let isOver = false;
    const asked = scene.ctl("apply", "-f", scene.file("pod.yaml", JSON.stringify(pod)), "--wait").finally(() => (isOver = true));
    await until(() => existsSync(join(directory, "runs")));
    expect(isOver).toBe(false);
    writeFileSync(join(directory, "ready"), "");
    expect(await asked).toMatchObject({ status: 0, stdout: expect.stringContaining("task pod is ready\n") });
  });
});
