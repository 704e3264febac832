/**
 * The clock of the wall is set a day ahead, and a day back (law 5): nobody is started, ended, checked or forgotten earlier or later for it. Only the guest
 * has a clock of its own.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { ContainerView, TaskView } from "../../../src/engine/index.ts";
import { http, until } from "../../engine/requests.ts";
import { eventsOf } from "../../engine/support.ts";
import { taskText } from "../../engine/tasks.ts";
import { printed } from "../../support/log-file.ts";
import { copiedRootfs } from "../../support/programs.ts";
import { systemctl, systemdRuns } from "../../support/systemd.ts";
import { answered, ask, dpkg, identities, install, journal, node, SOCKET, tasks, UNIT } from "../service.ts";

const DAY_S = 86_400;
/** How long a program that answers nothing has after its signal. In an emulated machine a second is soon over. */
const STOP_MS = 20_000;
const COUNTER = "trap 'exit 0' TERM; i=0; while :; do i=$((i+1)); echo $i; sleep 1 & wait $!; done";

/** It has ended once, and its second incarnation has not begun. */
const waitsToBegin = ({ generation, known, exit }: ContainerView) => generation === 2 && known === "PULLED" && exit?.code === 1;

describe.skipIf(!systemdRuns)("the clock of the wall (needs the guest)", () => {
  const directory = mkdtempSync(join(tmpdir(), "runt-guest-clock-"));
  let rootfs = "";
  let moved = 0;

  const apply = (name: string, script: string, container: object = {}, task: object = {}) =>
    ask("POST", "/v1/apply", {
      text: taskText(rootfs, name, [{ name: "main", script, fields: { ...container } }], { ...task }),
      group: name,
    });
  const get = (name: string) => ask<TaskView>("GET", `/v1/tasks/${name}?group=${name}`);
  const isRunning = (name: string) => async () => (await get(name)).known === "RUNNING";
  const health = async (name: string) =>
    (await ask<{ containers: { health: { status: string } }[] }>("GET", `/v1/tasks/${name}/detail?group=${name}`)).containers[0]!.health
      .status;

  /** Everything that has a clock of its own goes on with it. */
  function move(seconds: number): void {
    moved += seconds;
    execFileSync("date", ["--set", `@${Math.round(Date.now() / 1000) + seconds}`]);
  }

  beforeAll(async () => {
    execFileSync("chmod", ["711", directory]);
    rootfs = copiedRootfs(directory);
    await install("current");
    await systemctl("start", UNIT).catch((error: Error) => {
      throw new Error(`${error.message}\n${journal()}`);
    });
    await answered();
  });
  afterEach(({ task }) => {
    if (task.result?.state === "fail") console.log(journal());
  });
  afterAll(async () => {
    if (moved !== 0) move(-moved);
    await systemctl("stop", UNIT);
    await dpkg("--purge", "runtd", "runt");
    rmSync(directory, { recursive: true, force: true });
  });

  test("what runs, what is kept and what waits", async () => {
    await apply("server", COUNTER, { healthCheck: { command: ["/bin/true"], interval: "1s", timeout: "100s" } });
    // It is kept for two hours, and the one behind it begins again in two hours.
    await apply("shot", "exit 0", {}, { retention: "2h" });
    await apply("again", "exit 1", { restart: { backoff: { initial: "2h", maximum: "2h" } } });
    // It waits two hours at most for what never is.
    const waits = [
      { name: "main", fields: { essential: false } },
      { name: "late", fields: { dependsOn: [{ container: "main", condition: "COMPLETE", timeout: "2h" }] } },
    ];
    await ask("POST", "/v1/apply", { text: taskText(rootfs, "waits", waits), group: "waits" });
    await until(isRunning("server"));
    await until(async () => (await health("server")) === "HEALTHY");
    await until(async () => (await get("shot")).known === "STOPPED");
    await until(async () => waitsToBegin((await get("again")).containers[0]!));
    await until(async () => (await get("waits")).containers[0]!.known === "RUNNING");

    const before = identities();
    expect(before.length).toBe(2);
    const { log } = (await get("server")).containers[0]!;
    const facts = async () =>
      (await tasks()).map(({ id, known, containers }) => [
        id,
        known,
        containers.map(({ generation, known: state, exit }) => [generation, state, exit?.code]),
      ]);
    const known = await facts();
    for (const seconds of [DAY_S, -2 * DAY_S, DAY_S]) {
      const { lastSequence } = await node();
      move(seconds);
      const count = printed(log, "stdout").split("\n").length;
      await until(() => printed(log, "stdout").split("\n").length > count + 3);
      // A turn for everybody: what is due is done in it.
      await apply("turn", "exit 0");
      await until(async () => (await get("turn")).known === "STOPPED");
      await ask("DELETE", "/v1/tasks/turn?group=turn");
      await until(async () => (await http(SOCKET, "GET", "/v1/tasks/turn?group=turn")).status === 404);
      expect(await facts()).toEqual(known);
      expect(identities()).toEqual(before);
      expect(await health("server")).toBe("HEALTHY");
      const events = await eventsOf(SOCKET, lastSequence);
      expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, at) => lastSequence + 1 + at));
      expect(events.filter(({ data }) => !JSON.stringify(data).includes("turn"))).toEqual([]);
    }
  });

  test("a daemon that is started a day before what it has stored", async () => {
    const before = identities();
    const { epoch } = await node();
    for (const seconds of [-DAY_S, 2 * DAY_S]) {
      move(seconds);
      await systemctl("restart", UNIT);
      await answered();
      expect(identities()).toEqual(before);
      expect((await get("shot")).known).toBe("STOPPED");
      expect((await get("again")).containers[0]).toSatisfy(waitsToBegin);
      expect((await get("waits")).containers[1]).toMatchObject({ startedMs: null, stoppedMs: null });
      expect((await node()).conditions).toEqual([]);
    }
    expect((await node()).epoch).toBe(epoch + 2);
    move(-DAY_S);
  });

  test.each([DAY_S, -DAY_S])(
    "a program that does not answer its stop signal gets its time, the clock set by %i s meanwhile",
    async (seconds) => {
      await apply("deaf", "trap '' TERM; while :; do sleep 1; done", { stopTimeout: `${STOP_MS}ms` });
      await until(isRunning("deaf"));
      const begun = performance.now();
      await ask("POST", "/v1/tasks/deaf/stop?group=deaf");
      await sleep(2_000);
      move(seconds);
      await until(async () => (await get("deaf")).known === "STOPPED");
      const took = performance.now() - begun;
      move(-seconds);
      expect(took).toBeGreaterThan(STOP_MS - 1_000);
      expect((await get("deaf")).containers[0]).toMatchObject({ exit: { signal: 9 } });
      await ask("DELETE", "/v1/tasks/deaf?group=deaf");
      await until(async () => (await http(SOCKET, "GET", "/v1/tasks/deaf?group=deaf")).status === 404);
    },
  );

  test("what is left ends when it is told to", async () => {
    for (const name of ["server", "shot", "again", "waits"]) await ask("DELETE", `/v1/tasks/${name}?group=${name}`);
    await until(async () => (await tasks()).length === 0);
    expect(identities()).toEqual([]);
  });
});
