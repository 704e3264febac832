/** Rollouts: the replicas of a service become those of another version step by step, and return when it is broken. */
import { describe, expect, test } from "vitest";
import { RUNS, rolloutsIn } from "./rollout-scene.ts";
import { http, isRoot, LONGEST_MS, until, useEngine } from "./support.ts";

describe.skipIf(!isRoot)("rollouts (needs root)", () => {
  const scene = useEngine();

  const { compose, apply, rolled, tasks, last, sequence, chainOf, leastRunning, all } = rolloutsIn(scene);

  test(
    "R1, R2: a changed Compose file is rolled out in order, one replica after the other; a broken one goes back by itself",
    async () => {
      await scene.daemon();
      const update = "order: start-first, parallelism: 1, monitor: 500ms, failure_action: rollback";
      expect(await apply(`: v1; ${RUNS}`, update)).toBe("task web created\ntask web-2 created\ntask web-3 created\n");
      await until(async () => (await last()) === "complete");

      const second = await sequence();
      expect(await apply(`: v2; ${RUNS}`, update)).toMatch(/^(?:task web(?:-[23])? is replaced by the rollout of its service\n){3}$/);
      expect(await leastRunning(async () => (await last(second)) === "complete")).toBe(3);
      const steps = (await rolled(second)).map(({ state, replica, revision }) => `${revision} ${state}${replica ? ` ${replica}` : ""}`);
      const each = ["web", "web-2", "web-3"].flatMap((name) => [`2 replacing ${name}`, `2 ready ${name}`, `2 good ${name}`]);
      expect(steps).toEqual(["2 started", ...each, "2 complete"]);
      await until(async () => (await tasks()).length === 3);
      const good = new Map((await tasks()).map(({ name, digest }) => [name, digest]));

      const third = await sequence();
      await apply("sleep 0.2; exit 7", update);
      expect(await leastRunning(async () => (await last(third)) === "complete")).toBe(3);
      const back = await rolled(third);
      const why = back.find(({ state }) => state === "rolling-back");
      expect(why).toMatchObject({ revision: 2 });
      expect(chainOf(why?.reason)).toMatch(/^revision 3 of web has failed: a replica has failed <- replica web has ended <- .*exit/);
      // The others were never touched.
      expect(back.some(({ state, replica }) => state === "replacing" && replica === "web-3")).toBe(false);
      await until(async () => (await tasks()).every(({ known }) => known === "RUNNING") && (await tasks()).length === 3);
      expect(new Map((await tasks()).map(({ name, digest }) => [name, digest]))).toEqual(good);
    },
    LONGEST_MS,
  );

  test(
    "R1, R2: stop-first: the old replica ends first; an unhealthy version goes back, also to replicas that have ended",
    async () => {
      await scene.daemon();
      const update = "parallelism: 2, monitor: 1s, failure_action: rollback";
      const healthy = (test: string) =>
        `    healthcheck: { test: [CMD, ${test}], interval: 1s, start_interval: 100ms, start_period: 200ms, retries: 1 }\n`;
      await apply(`: v1; ${RUNS}`, update, healthy("/bin/true"));
      await until(async () => (await last()) === "complete");
      const second = await sequence();
      await apply(`: v2; ${RUNS}`, update, healthy("/bin/false"));
      expect(await leastRunning(async () => (await last(second)) === "complete")).toBeGreaterThanOrEqual(1);
      const back = await rolled(second);
      expect(chainOf(back.find(({ state }) => state === "rolling-back")?.reason)).toContain("is not healthy: container web");
      await until(async () => (await tasks()).length === 3 && (await tasks()).every(({ known }) => known === "RUNNING"));
      for (const name of ["web", "web-2", "web-3"])
        expect((await http(scene.socket, "GET", `/v1/tasks/${name}/detail?group=shop`)).text).toContain(": v1;");
    },
    LONGEST_MS,
  );

  test("R3 without a good version, and with failure_action pause, the rollout pauses and the other replicas go on", async () => {
    await scene.daemon();
    const update = "order: start-first, monitor: 500ms, failure_action: pause";
    await apply(`: v1; ${RUNS}`, update);
    await until(async () => (await last()) === "complete");
    const second = await sequence();
    await apply("exit 3", update);
    await until(async () => (await last(second)) === "paused");
    const running = (await tasks()).filter(({ known }) => known === "RUNNING").map(({ name }) => name);
    expect(running.sort()).toEqual(["web", "web-2", "web-3"]);
    // With another number it stays paused, and the new replica has the version that was good.
    const scaled = await scene.ctl("-g", "shop", "scale", "web=4", "--wait");
    expect(scaled).toMatchObject({ status: 1, stdout: expect.stringContaining("service web has 4 replicas, before 3, revision 3\n") });
    expect(scaled.stderr).toContain("service web is paused: revision 2 of web has failed");
    await until(async () => (await tasks()).some(({ name, known }) => name === "web-4" && known === "RUNNING"));
    expect((await http(scene.socket, "GET", "/v1/tasks/web-4/detail?group=shop")).text).toContain(": v1;");
    expect((await rolled(second)).filter(({ state }) => state === "replacing")).toHaveLength(1);
    const third = await sequence();
    await apply(`: v3; ${RUNS}`, update);
    await until(async () => (await last(third)) === "complete");
    await until(async () => (await tasks()).length === 3);
  });

  test(
    "R9 a daemon that is killed goes on with the same rollout",
    async () => {
      let daemon = await scene.daemon();
      const update = "order: start-first, monitor: 300ms, failure_action: rollback";
      await apply(`: v1; ${RUNS}`, update);
      await until(async () => (await last()) === "complete");
      const second = await sequence();
      await apply(`: v2; ${RUNS}`, update);
      for (const name of ["replacing", "ready", "good"]) {
        await until(async () => (await rolled(second)).some(({ state }) => state === name));
        await daemon.kill();
        daemon = await scene.daemon();
      }
      await until(async () => (await last(second)) === "complete");
      const steps = (await rolled(second)).map(({ state, replica }) => `${state} ${replica ?? ""}`);
      expect(steps.filter((one) => one === "started ")).toHaveLength(1);
      for (const name of ["web", "web-2", "web-3"]) expect(steps.filter((one) => one === `replacing ${name}`)).toHaveLength(1);
      await until(async () => (await tasks()).length === 3);
    },
    LONGEST_MS,
  );

  test.each(["before-commit create 1", "after-commit start 2", "before-result stop 1", "after-commit remove 1"])(
    "R9 a daemon ends itself in the middle of an update that is broken: the next one goes back with the same rollout (%s)",
    async (fault) => {
      const first = await scene.daemon();
      const update = "order: start-first, monitor: 300ms, failure_action: rollback";
      await apply(`: v1; ${RUNS}`, update);
      await until(async () => (await last()) === "complete");
      const second = await sequence();
      await first.kill();
      const faulty = await scene.daemon({ fault });
      await apply("sleep 0.1; exit 5", update);
      // A rollout that is over before the fault has shown that it needs no such action.
      await Promise.race([faulty.ended, until(async () => (await last(second).catch(() => "")) === "complete")]);
      await faulty.kill();
      await scene.daemon();
      await until(async () => (await last(second)) === "complete");
      const steps = (await rolled(second)).map(({ state, revision }) => `${revision} ${state}`);
      expect(steps.filter((one) => one.endsWith("started"))).toEqual(["2 started"]);
      expect(steps.filter((one) => one.endsWith("rolling-back"))).toEqual(["1 rolling-back"]);
      expect(steps.at(-1)).toBe("1 complete");
      await until(async () => (await tasks()).length === 3 && (await tasks()).every(({ known }) => known === "RUNNING"));
    },
    LONGEST_MS,
  );

  test(
    "R10 verbs: status, history, pause, resume, undo and restart; apply --wait follows the rollout, and says why it went back",
    async () => {
      await scene.daemon();
      const ctl = (...args: string[]) => scene.ctl("-g", "shop", "rollout", ...args);
      const update = "order: start-first, monitor: 200ms, failure_action: rollback";
      const waited = (script: string) => scene.ctl("apply", "-f", compose(script, update), "--wait");
      expect(await waited(`: v1; ${RUNS}`)).toMatchObject({ status: 0, stdout: expect.stringContaining("service web is at revision 1\n") });
      expect(await waited(`: v2; ${RUNS}`)).toMatchObject({
        status: 0,
        stdout: expect.stringContaining("service web is at revision 2\n"),
        stderr: expect.stringContaining("web: rollout to revision 2: replica web-3 is good\n"),
      });
      const broken = await waited("exit 9");
      expect(broken).toMatchObject({
        status: 1,
        stderr: expect.stringContaining("service web is at revision 2, and not at 3: revision 3 of web has failed"),
      });
      const status = (await ctl("status", "web")).stdout;
      expect(status).toMatch(/^Service: +web\nRevision: +2, back from 3\nRollout: +rollback, complete\n/);
      const history = (await ctl("history", "web")).stdout.split("\n");
      expect(history[2]).toMatch(/^2 \* +\d+s +apply +uid 0 +good +\/containers\/0\/args\/1/);
      expect(history[3]).toMatch(/^3 +\d+s +apply +uid 0 +failed +revision 3 of web has failed/);

      expect(await ctl("undo", "web", "--to-revision", "1", "--wait")).toMatchObject({
        status: 0,
        stdout: expect.stringMatching(/^service web goes back, revision 4\n(?:.*\n)*service web is at revision 4\n$/),
      });
      expect((await http(scene.socket, "GET", "/v1/tasks/web-2/detail?group=shop")).text).toContain(": v1;");
      const before = new Set((await tasks()).map(({ id }) => id));
      expect(await ctl("restart", "web", "--wait")).toMatchObject({ status: 0 });
      expect((await tasks()).filter(({ id, desired }) => before.has(id) && desired === "RUNNING")).toEqual([]);

      await ctl("restart", "web");
      expect(await ctl("pause", "web")).toMatchObject({ status: 0, stdout: "service web is paused, revision 6\n" });
      expect(await ctl("pause", "web")).toMatchObject({ status: 1, stderr: expect.stringContaining("no rollout of web goes on") });
      expect((await ctl("list")).stdout).toMatch(/\nweb +6 +paused +\d of 3 not good/);
      expect(await ctl("resume", "web", "--wait")).toMatchObject({ status: 0 });
      expect(await ctl("undo", "web", "--to-revision", "99")).toMatchObject({
        status: 1,
        stderr: expect.stringContaining("there is no revision 99 of web"),
      });
      expect(await ctl("status", "other")).toMatchObject({
        status: 1,
        stderr: expect.stringContaining("there is no service other in group shop"),
      });
      const refused = { status: 1, stderr: expect.stringContaining("runtctl rollout undo web") };
      expect(await scene.ctl("-g", "shop", "rollback", "web-2")).toMatchObject(refused);
      // What is known of a service goes with its last task.
      expect((await scene.ctl("delete", "-p", "shop")).status).toBe(0);
      await until(async () => (await ctl("list")).stdout === "SERVICE   REVISION   STATE   REPLICAS\n");
    },
    LONGEST_MS,
  );

  test(
    "R7 scale: new replicas start at once, the highest go first, the history says who has asked, and the file wins when it is applied again",
    async () => {
      await scene.daemon();
      const ctl = (...args: string[]) => scene.ctl("-g", "shop", ...args);
      const update = "order: start-first, monitor: 300ms, failure_action: rollback";
      const file = compose(`: v1; ${RUNS}`, update);
      expect((await scene.ctl("apply", "-f", file, "--wait")).status).toBe(0);
      const before = new Set((await tasks()).map(({ id }) => id));
      expect(await ctl("scale", "web=5", "--wait")).toMatchObject({
        status: 0,
        stdout: expect.stringMatching(/^service web has 5 replicas, before 3, revision 2\n(?:.*\n)*service web is at revision 2\n$/),
      });
      expect(await all("name")).toEqual(["web", "web-2", "web-3", "web-4", "web-5"]);
      expect((await tasks()).filter(({ id }) => before.has(id))).toHaveLength(3);
      // An update after it keeps the number.
      expect((await ctl("rollout", "restart", "web", "--wait")).status).toBe(0);
      expect((await ctl("rollout", "status", "web")).stdout).toMatch(/\nweb-5 +good/);
      expect(await ctl("scale", "web=2")).toMatchObject({ status: 0, stdout: "service web has 2 replicas, before 5, revision 4\n" });
      await until(async () => String(await all("name")) === "web,web-2");
      const history = (await ctl("rollout", "history", "web")).stdout.split("\n");
      expect(history[2]).toMatch(/^2 +\d+s +scale +uid 0 +good +replicas$/);
      expect(history[4]).toMatch(/^4 \* +\d+s +scale +uid 0 +good +replicas$/);
      expect((await scene.ctl("plan", "-f", file)).stdout).toContain("web-3");
      // It is a version as others are.
      expect((await ctl("rollout", "undo", "web", "--to-revision", "2", "--wait")).status).toBe(0);
      expect(await all("name")).toEqual(["web", "web-2", "web-3", "web-4", "web-5"]);
      const again = await scene.ctl("apply", "-f", file, "--wait");
      expect(again).toMatchObject({
        status: 0,
        stdout: expect.stringContaining("task web-5 is being removed: the file has 3 replicas of web\n"),
      });
      await until(async () => String(await all("name")) === "web,web-2,web-3");
      const said = async (...words: string[]) => (await ctl("scale", ...words)).stderr;
      expect(await said("web=0")).toContain("a service has at least one replica");
      expect(await said("web=4", "other=2")).toContain("there is no service other in group shop");
      expect(await said("web")).toContain("write SERVICE=NUMBER");
      expect(await all("name")).toEqual(["web", "web-2", "web-3"]);
      await until(async () => (await all("known")).every((one) => one === "RUNNING"));
    },
    LONGEST_MS,
  );
});
