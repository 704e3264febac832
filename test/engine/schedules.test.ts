/** A CronJob on a real daemon: its jobs begin by themselves, one daemon after the other, and go with it. */
import { describe, expect, test } from "vitest";
import { isRoot, until, useEngine } from "./support.ts";
import { SLEEP } from "./tasks.ts";

interface Run {
  readonly atMs: number;
  readonly state: string;
  readonly tasks: readonly string[];
}

interface View {
  readonly name: string;
  readonly known: string;
  readonly run?: { readonly of: string };
  readonly schedule?: { readonly runs: readonly Run[]; readonly nextMs: number | null; readonly suspended: boolean };
}

describe.skipIf(!isRoot)("schedules (needs root)", () => {
  const scene = useEngine();
  const cronJob = (name: string, script: string, spec: object = {}, job: object = {}) =>
    JSON.stringify({
      apiVersion: "batch/v1",
      kind: "CronJob",
      metadata: { name },
      spec: {
        // One run after the other, none of which is removed while a test looks at it.
        ...{ schedule: "@every 1s", concurrencyPolicy: "Forbid", successfulJobsHistoryLimit: 100 },
        ...spec,
        jobTemplate: {
          spec: {
            ...job,
            template: {
              metadata: { annotations: { "runt.dev/rootfs.main": scene.rootfs() } },
              spec: {
                restartPolicy: "Never",
                terminationGracePeriodSeconds: 1,
                containers: [
                  {
                    name: "main",
                    command: ["/bin/sh", "-c", script],
                    env: [{ name: "POD", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }],
                  },
                ],
              },
            },
          },
        },
      },
    });
  const apply = (text: string) => scene.ctl("apply", "--wait", "-f", scene.file("cron.yaml", text));
  const all = async (): Promise<View[]> => JSON.parse((await scene.ctl("get", "-o", "json")).stdout || "[]");
  const scheduleOf = async (name: string) => (await all()).find((one) => one.name === name)?.schedule;
  const firstRun = async (name: string, state: string): Promise<Run> => {
    const run = async () => (await scheduleOf(name))?.runs.find((one) => one.state === state);
    await until(async () => (await run()) !== undefined);
    return (await run())!;
  };

  test("a job begins by itself, its pods have names of their own, and what is known of it is shown", async () => {
    await scene.daemon();
    const script = "echo I am $POD, number $JOB_COMPLETION_INDEX";
    const job = { completions: 2, parallelism: 1, completionMode: "Indexed" };
    expect(await apply(cronJob("tick", script, {}, job))).toMatchObject({ status: 0 });
    const { tasks } = await firstRun("tick", "succeeded");
    expect(tasks).toEqual([expect.stringMatching(/^tick-\d{10}-0$/), expect.stringMatching(/^tick-\d{10}-1$/)]);
    for (const [index, name] of tasks.entries()) expect((await scene.ctl("logs", name)).stdout).toBe(`I am ${name}, number ${index}\n`);
    expect((await scene.ctl("get")).stdout).toMatch(/^tick +- +SCHEDULED +.*@every 1s, next in .*, last .* ago(?:, \d active)?$/m);
    const described = (await scene.ctl("describe", "tick")).stdout;
    expect(described).toMatch(/^Next run: +\S+Z \(in /m);
    expect(described).toContain(` succeeded, ended `);
    expect(described).toContain(`run of `);
    const document = JSON.parse((await scene.ctl("get", "tick", "-o", "json")).stdout);
    expect(document).toMatchObject({ kind: "CronJob", spec: { schedule: "@every 1s" }, status: { active: expect.any(Array) } });
    expect(Date.parse(document.status.lastSuccessfulTime)).toBeGreaterThanOrEqual(Date.parse(document.status.lastScheduleTime));
    const pod = JSON.parse((await scene.ctl("get", tasks[1]!, "-o", "json")).stdout);
    expect(pod).toMatchObject({ kind: "Pod", metadata: { name: tasks[1] }, status: { phase: "Succeeded" } });
  });

  test("applied again it is the same, suspended it goes on with what it knows, and its jobs are no strangers to --prune", async () => {
    await scene.daemon();
    await apply(cronJob("tick", "true"));
    const { tasks } = await firstRun("tick", "succeeded");
    const file = scene.file("cron.yaml", cronJob("tick", "true"));
    expect((await scene.ctl("apply", "--prune", "-f", file)).stdout).toMatch(/tick +unchanged/);
    expect((await scene.ctl("apply", "-f", scene.file("cron.yaml", cronJob("tick", "true", { suspend: true })))).stdout).toMatch(
      /tick +updated/,
    );
    expect(await scheduleOf("tick")).toMatchObject({ suspended: true, nextMs: null });
    // Further runs may have followed before it was suspended.
    expect((await scheduleOf("tick"))?.runs).toContainEqual(expect.objectContaining({ tasks }));
    expect((await scene.ctl("get")).stdout).toMatch(/^tick +- +SUSPENDED /m);
  });

  test("another daemon finds the job that runs, and knows of it; deleted, the schedule takes its jobs along", async () => {
    const first = await scene.daemon();
    await apply(cronJob("long", SLEEP));
    const { tasks } = await firstRun("long", "active");
    const [name] = tasks;
    await until(async () => (await all()).find((one) => one.name === name)?.known === "RUNNING");
    await until(async () => (await scene.ctl("events", "long")).stdout.includes("waits for the end of the run before"));
    await first.kill();
    await scene.daemon();
    expect(await firstRun("long", "active")).toMatchObject({ tasks });
    expect((await scene.ctl("restart", "long")).stderr).toContain("task long has a schedule and no containers");
    expect(await scene.ctl("delete", "long")).toMatchObject({ status: 0 });
    expect(await all()).toEqual([]);
    expect(scene.list()).toEqual([]);
  });

  test("a stopped schedule stops its jobs and begins no more; started, it goes on", async () => {
    await scene.daemon();
    await apply(cronJob("long", SLEEP));
    await firstRun("long", "active");
    expect(await scene.ctl("stop", "long")).toMatchObject({ status: 0 });
    expect((await all()).filter(({ known }) => known !== "STOPPED")).toEqual([]);
    const stopped = await scheduleOf("long");
    expect(stopped?.nextMs).toBeNull();
    expect(stopped?.runs.at(0)?.state).toBe("failed");
    expect(await scene.ctl("start", "long")).toMatchObject({ status: 0 });
    await until(async () => ((await scheduleOf("long"))?.nextMs ?? null) !== null);
  });

  test("what is wrong has its place", async () => {
    const text = cronJob("wrong", "true", { schedule: "61 * * * *", timeZone: "Europe/Atlantis", concurrencyPolicy: "Never" });
    const { status, stderr } = await scene.ctl("validate", "-f", scene.file("cron.yaml", text));
    expect(status).toBe(1);
    expect(stderr).toContain(`/spec/schedule: "61" is no minute: it is from 0 to 59`);
    expect(stderr).toContain("/spec/concurrencyPolicy");
    expect((await scene.ctl("validate", "-f", scene.file("cron.yaml", cronJob("a".repeat(53), "true")))).stderr).toContain(
      "/metadata/name",
    );
  });
});
