/** In which order containers start and stop, and what becomes of one whose dependency does not come about: by what they print, and when. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { allPrinted } from "../support/log-file.ts";
import { eventsOf, http, identityOf, isRoot, until, useEngine } from "./support.ts";
import { type ContainerText, SLEEP, taskText } from "./tasks.ts";

interface Seen {
  readonly name: string;
  readonly known: string;
  readonly restarts: number;
  readonly reason: string | null;
  readonly startedMs: number | null;
  readonly exit: { readonly code: number | null; readonly signal: number | null } | null;
  readonly log: string;
}

describe.skipIf(!isRoot)("dependencies, stops and restarts (needs root)", () => {
  const scene = useEngine();
  const task = async (): Promise<{ known: string; reason: string; containers: Seen[] }> =>
    JSON.parse((await http(scene.socket, "GET", "/v1/tasks/t")).text);
  const apply = async (containers: readonly ContainerText[], fields: Readonly<Record<string, unknown>> = {}) => {
    const answer = await http(scene.socket, "POST", "/v1/apply", { text: taskText(scene.rootfs(), "t", containers, fields) });
    expect(answer.text).toContain("created");
  };
  const container = async (name: string) => (await task()).containers.find((one) => one.name === name)!;
  const logOf = async (name: string) => {
    const { log } = await container(name);
    return allPrinted(log);
  };
  const isStopped = async () => (await task()).known === "STOPPED";
  const pidOf = (name: string) => scene.list().find(({ id, status }) => id.includes(`.${name}-`) && status === "running")?.pid ?? 0;
  const on = (name: string, condition: string, timeout?: string) => ({
    container: name,
    condition,
    ...(timeout === undefined ? {} : { timeout }),
  });
  const side = { essential: false };
  /** What a container prints first: the time, in hundredths of a second since the boot. */
  const now = 'cut -d" " -f1 /proc/uptime';
  const timeOf = async (name: string) => Number((await logOf(name)).split("\n")[0]);

  test("E91: CREATE, START, SUCCESS, COMPLETE and HEALTHY: none starts before its condition holds", async () => {
    await scene.daemon();
    await apply(
      [
        { name: "first", script: `${now}; ${SLEEP}` },
        { name: "migrate", script: `sleep 0.5; ${now}`, fields: { ...side, dependsOn: [on("first", "START")] } },
        { name: "fails", script: `sleep 0.3; ${now}; exit 3`, fields: side },
        {
          name: "slow",
          script: `sleep 0.5; ${now}; touch /tmp/ok; ${SLEEP}`,
          fields: {
            healthCheck: { command: ["test", "-e", "/tmp/ok"], interval: "100ms", timeout: "1m" },
            mounts: [{ volume: "v", target: "/tmp" }],
          },
        },
        { name: "created", script: `${now}; ${SLEEP}`, fields: { dependsOn: [on("first", "CREATE")] } },
        { name: "succeeded", script: `${now}; ${SLEEP}`, fields: { dependsOn: [on("migrate", "SUCCESS")] } },
        { name: "completed", script: `${now}; ${SLEEP}`, fields: { dependsOn: [on("fails", "COMPLETE")] } },
        { name: "healthy", script: `${now}; ${SLEEP}`, fields: { dependsOn: [on("slow", "HEALTHY")] } },
      ],
      { volumes: [{ name: "v" }] },
    );
    for (const name of ["created", "succeeded", "completed", "healthy"]) await until(async () => (await timeOf(name)) > 0);
    expect(await timeOf("migrate")).toBeGreaterThanOrEqual(await timeOf("first"));
    expect(await timeOf("succeeded")).toBeGreaterThanOrEqual(await timeOf("migrate"));
    expect(await timeOf("completed")).toBeGreaterThanOrEqual(await timeOf("fails"));
    expect(await timeOf("healthy")).toBeGreaterThanOrEqual(await timeOf("slow"));
    expect((await container("fails")).exit).toMatchObject({ code: 3 });
  });

  test.each<[string, ContainerText, object, RegExp]>([
    [
      "SUCCESS of one that fails",
      { name: "other", script: "exit 3", fields: side },
      on("other", "SUCCESS"),
      /other has stopped and is not successful <- .*exited with 3/,
    ],
    [
      "HEALTHY of one that ends before",
      { name: "other", script: "sleep 0.2", fields: { ...side, healthCheck: { command: ["false"], interval: "50ms" } } },
      on("other", "HEALTHY"),
      /other has stopped and is not healthy/,
    ],
    [
      "START of one that cannot start",
      { name: "other", fields: { ...side, command: "/no/program" } },
      on("other", "START"),
      /other (has stopped|is being stopped) and is not started/,
    ],
    [
      "HEALTHY that does not come in time",
      { name: "other", script: SLEEP, fields: { healthCheck: { command: ["false"], interval: "50ms" } } },
      on("other", "HEALTHY", "700ms"),
      /other was not healthy within 700 ms/,
    ],
  ])(
    "E91 E93: a container whose condition can never hold stops with the chain of reasons, and has no exit code (%s)",
    async (_, other, dependency, reason) => {
      await scene.daemon();
      await apply([other, { name: "waits", fields: { dependsOn: [dependency] } }]);
      await until(isStopped);
      const waits = await container("waits");
      expect(waits.reason).toMatch(/container waits cannot start <- /);
      expect(waits.reason).toMatch(reason);
      expect(waits).toMatchObject({ exit: null, startedMs: null });
      expect(await logOf("waits")).toBe("");
    },
  );

  test("E92: containers stop in the inverse order of their dependencies, also through others", async () => {
    await scene.daemon();
    const kept = `${scene.directory}/kept`;
    mkdirSync(kept, { recursive: true });
    const script = (name: string) => `trap 'sleep 0.2; ${now} > /kept/${name}; exit 0' TERM; sleep 1000 & wait $!`;
    const fields = { mounts: [{ source: kept, target: "/kept" }] };
    await apply([
      { name: "c", script: script("c"), fields },
      { name: "b", script: script("b"), fields: { ...fields, dependsOn: [on("c", "START")] } },
      { name: "a", script: script("a"), fields: { ...fields, dependsOn: [on("b", "START")] } },
    ]);
    await until(async () => (await task()).known === "RUNNING");
    expect((await scene.ctl("delete", "t")).status).toBe(0);
    const [a, b, c] = ["a", "b", "c"].map((name) => Number(readFileSync(`${kept}/${name}`, "utf8")));
    expect(a).toBeGreaterThan(0);
    expect([a! < b!, b! < c!]).toEqual([true, true]);
  });

  test("E74: a container gets its notice before the stop once, before any container of the task gets its signal", async () => {
    await scene.daemon();
    const kept = `${scene.directory}/told`;
    mkdirSync(kept, { recursive: true });
    const script = (name: string) => `trap '${now} > /told/${name}; exit 0' TERM; sleep 1000 & wait $!`;
    const mounts = [{ source: kept, target: "/told" }];
    const preStop = { command: ["sh", "-c", `sleep 0.5; ${now} >> /told/hook`] };
    await apply([
      { name: "a", script: script("a"), fields: { mounts } },
      { name: "b", script: script("b"), fields: { mounts, preStop, dependsOn: [on("a", "START")] } },
      { name: "c", script: script("c"), fields: { mounts, preStop: { command: ["false"] } } },
    ]);
    await until(async () => (await task()).known === "RUNNING");
    expect((await scene.ctl("delete", "t")).status).toBe(0);
    const times = ["hook", "a", "b", "c"].map((name) => readFileSync(`${kept}/${name}`, "utf8"));
    expect(times[0]).toMatch(/^\d+\.\d+\n$/);
    for (const signalled of times.slice(1)) expect(Number(signalled)).toBeGreaterThanOrEqual(Number(times[0]));
  });

  test("E76: a container gets its own stop signal, and SIGKILL after its timeout if it does not end", async () => {
    await scene.daemon();
    await apply([
      { name: "polite", script: "trap 'echo got it; exit 7' USR1; sleep 1000 & wait $!", fields: { stopSignal: "SIGUSR1" } },
      { name: "deaf", script: "trap '' TERM; while :; do sleep 1; done", fields: { stopTimeout: "1s" } },
    ]);
    await until(async () => (await task()).known === "RUNNING");
    const begun = performance.now();
    const deaf = identityOf(pidOf("deaf"));
    process.kill(pidOf("polite"), "SIGUSR1");
    await until(isStopped);
    expect(await container("polite")).toMatchObject({ exit: { code: 7, signal: null } });
    expect(await logOf("polite")).toBe("got it\n");
    expect(await container("deaf")).toMatchObject({ exit: { code: 137, signal: 9 } });
    expect(performance.now() - begun).toBeGreaterThan(1_000);
    expect(existsSync(`/proc/${deaf.split(":")[0]}`)).toBe(false);
  });

  test("E94: a container is started again until it ends with a code that is ignored: the same name, a new process each time", async () => {
    await scene.daemon();
    const script = "echo run >> /data/runs; [ $(wc -l < /data/runs) -gt 2 ] && exit 0; exit 1";
    const fields = {
      restart: { ignoredExitCodes: [0], backoff: { initial: "50ms" } },
      mounts: [{ volume: "v", target: "/data" }],
    };
    await apply([{ name: "a", script, fields }], { volumes: [{ name: "v" }] });
    await until(isStopped);
    expect(await container("a")).toMatchObject({ restarts: 2, exit: { code: 0 } });
    // What ran before is not left.
    await until(() => scene.list().length <= 1);
  });

  test("E94: a container that ran for too short a time is not started again", async () => {
    await scene.daemon();
    await apply([{ name: "a", script: "exit 1", fields: { restart: { minimumRunTime: "1h" } } }]);
    await until(isStopped);
    expect(await container("a")).toMatchObject({ restarts: 0, exit: { code: 1 } });
  });

  test("E28: a health check changes the health, and nothing else", async () => {
    await scene.daemon();
    const healthCheck = {
      command: ["sh", "-c", "test ! -e /tmp/sick || { echo sick; exit 1; }"],
      interval: "100ms",
      timeout: "1m",
      retries: 2,
    };
    // A place of its own: tests share the root file system.
    const mounts = [{ volume: "v", target: "/tmp" }];
    await apply(
      [{ name: "a", script: `until [ -e /tmp/go ]; do sleep 0.05; done; touch /tmp/sick; ${SLEEP}`, fields: { healthCheck, mounts } }],
      { volumes: [{ name: "v" }] },
    );
    await until(async () => (await task()).known === "RUNNING");
    const before = identityOf(pidOf("a"));
    const health = async () =>
      (await eventsOf(scene.socket, 0)).filter(({ data }) => data["type"] === "health").map(({ data }) => data["status"]);
    await until(async () => (await health()).includes("HEALTHY"));
    writeFileSync(`/proc/${pidOf("a")}/root/tmp/go`, "");
    await until(async () => (await health()).includes("UNHEALTHY"));
    expect(await health()).toEqual(["HEALTHY", "UNHEALTHY"]);
    expect(identityOf(pidOf("a"))).toBe(before);
    expect((await task()).known).toBe("RUNNING");
  });
});
