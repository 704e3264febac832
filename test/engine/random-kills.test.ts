/**
 * SIGKILL at random of the daemon, of log pumps, monitors and verbs of the runtime, during a mixed load; while no daemon is there records of containers, the executor's and
 * the runtime's, are removed or damaged. Then each task is where the model has it: what was not hit is
 * exact; the end of a container whose monitor was killed may be unknown; a launch whose runt or monitor was killed may have failed; a container whose records were lost has ended, and nobody saw how. Nothing is left.
 */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { TaskView } from "../../src/engine/index.ts";
import type { ContainerExit } from "../../src/engine/model/index.ts";
import { allPrinted } from "../support/log-file.ts";
import { taskCgroups } from "./daemon-cgroups.ts";
import { DAMAGES } from "./damage.ts";
import { type Daemon, http, isRoot, LONGEST_MS, scriptTask, sharedIn, until, useEngine } from "./support.ts";
import { type VictimKind, victimsOf } from "./victims.ts";

/** All in all. */
const KILLS = Number(process.env["RUNT_ENGINE_RANDOM_KILLS"] ?? 12);
const SEED = Number(process.env["RUNT_ENGINE_SEED"] ?? 1);
const IS_LONG = KILLS > 100;
const TASKS = IS_LONG ? 50 : 8;
const KILLS_A_ROUND = IS_LONG ? 25 : KILLS;
const ROUNDS = Math.ceil(KILLS / KILLS_A_ROUND);
const LINES = 15;
const SIGKILL = 9;

type Kind = "daemon" | "records" | VictimKind;
const KINDS: readonly Exclude<Kind, "records">[] = ["daemon", "pump", "monitor", "runt"];

/** mulberry32 */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

interface Model {
  readonly script: string;
  readonly container?: string;
  readonly known: "RUNNING" | "STOPPED";
  /** null: it runs on. */
  readonly code: number | null;
  readonly restarts: number;
  /** What it prints from its beginning on, or, of one that runs on, first. */
  readonly log: string;
}

const COUNT = Array.from({ length: LINES }, (_, index) => `${index}\n`).join("");
const counting = (name: string) =>
  `echo ${name} >> /shared/lines; i=0; while [ $i -lt ${LINES} ]; do echo $i; i=$((i+1)); sleep 0.02; done`;

function modelOf(name: string, index: number): Model {
  switch (index % 4) {
    case 0:
      return {
        script: `${counting(name)}; trap 'exit 0' TERM; sleep 1000 & wait`,
        known: "RUNNING",
        code: null,
        restarts: 0,
        log: COUNT,
      };
    case 1:
      return { script: `${counting(name)}; exit 0`, known: "STOPPED", code: 0, restarts: 0, log: COUNT };
    case 2:
      return { script: `${counting(name)}; exit 7`, known: "STOPPED", code: 7, restarts: 0, log: COUNT };
    default:
      // It fails twice, whatever becomes of its monitor.
      return {
        script: `echo run >> /shared/${name}; ${counting(name)}; [ $(wc -l < /shared/${name}) -gt 2 ] && exit 0; exit 1`,
        container: "restart: { ignoredExitCodes: [0], backoff: { initial: 50ms } }",
        known: "STOPPED",
        code: 0,
        restarts: 2,
        log: COUNT,
      };
  }
}

describe.skipIf(!isRoot)("whoever is killed (needs root)", () => {
  const scene = useEngine();
  const executors = join(scene.stateDir, "executors");
  const tasks = async (): Promise<TaskView[]> => JSON.parse((await http(scene.socket, "GET", "/v1/tasks")).text).tasks;
  const left = (name: string) => {
    const path = join(scene.stateDir, name);
    return existsSync(path) ? readdirSync(path).filter((one) => !one.startsWith("@")) : [];
  };

  /** Who was killed, by name of the task. */
  type Hits = Map<string, Set<Kind>>;

  async function killAtRandom(next: () => number, started: Daemon, hits: Hits, counts: Record<Kind, number>): Promise<Daemon> {
    let daemon = started;
    for (let count = 0; count < KILLS_A_ROUND; count++) {
      await sleep(next() * 150);
      const wanted = KINDS[Math.floor(next() * KINDS.length)]!;
      // A verb of the runtime is at work for some milliseconds only.
      const victims = wanted === "daemon" ? [] : await untilSome(() => victimsOf(executors, wanted));
      const victim = victims[Math.floor(next() * victims.length)];
      if (victim === undefined || wanted === "daemon") {
        await daemon.kill();
        if (next() < 0.5) loseSome(next, hits, counts);
        daemon = scene.spawn();
        // The next kill may come while it starts.
        if (next() < 0.7) await until(() => /"ready"/.test(daemon.log()));
        counts.daemon++;
        continue;
      }
      try {
        process.kill(victim.pid, "SIGKILL");
      } catch {
        continue; // It has ended.
      }
      // Until it has begun the log it is the runt that launches, whatever the record says.
      const kind = wanted === "monitor" && !existsSync(join(executors, victim.id, "record.json.log")) ? "runt" : wanted;
      counts[kind]++;
      const name = victim.id.split(".")[1]!;
      hits.set(name, (hits.get(name) ?? new Set()).add(kind));
    }
    await daemon.kill();
    return scene.daemon();
  }

  /** Of one container that is there. Verbs that the killed daemon has left may be at work on it. */
  function loseSome(next: () => number, hits: Hits, counts: Record<Kind, number>): void {
    const ids = left("executors");
    const id = ids[Math.floor(next() * ids.length)];
    if (id === undefined) return;
    const [own, runtimes] = [join(executors, id), join(executors, "@runtime", id)];
    const files = [own, runtimes, ...["record.json", "executor.json"].map((name) => join(own, name)), join(runtimes, "state.json")];
    const path = files[Math.floor(next() * files.length)]!;
    const ways = path === own || path === runtimes ? ["gone"] : Object.keys(DAMAGES);
    try {
      DAMAGES[ways[Math.floor(next() * ways.length)]!]!(path);
    } catch {
      return; // It has not been written yet, or is gone.
    }
    counts.records++;
    const name = id.split(".")[1]!;
    hits.set(name, (hits.get(name) ?? new Set()).add("records"));
  }

  /** What is wrong with a task; undefined: it is as the model has it, but for what was killed. */
  function objection(task: TaskView | undefined, name: string, model: Model, hit: ReadonlySet<Kind>, begun: number): string | undefined {
    if (task === undefined) return "it is not there";
    const [container] = task.containers;
    const state = `${task.known} ${JSON.stringify(container!.exit)} restarts ${container!.restarts} started ${container!.startedMs} stopped ${container!.stoppedMs} begun ${begun} ${container!.reason ?? ""} hit by ${[...hit]}`;
    // It was ended where it was found, and its policy decides; or it had ended, and that was known.
    if (hit.has("records"))
      return task.known === model.known || (task.known === "STOPPED" && (isEndUnknown(container!.exit) || isLossTold(container!.reason)))
        ? undefined
        : `${name}: ${state}`;
    // Whoever kills the monitor and the pump of a container takes its output away: it gets SIGPIPE.
    if (hit.has("monitor") && hit.has("pump")) return undefined;
    // A launch that has failed is undone, and what it had begun is killed. Its monitor is a part of it until it is over. With the daemon killed, too, nobody is
    // there to say that it has failed: the next one finds that it has ended, and has not known it to run before.
    const { exit, startedMs, stoppedMs } = container!;
    const hasNeverRun = exit?.unknown === true && startedMs === stoppedMs;
    const isLaunchHit = hit.has("runt") || (hit.has("monitor") && (hasNeverRun || /could not be started/.test(container!.reason ?? "")));
    if (isLaunchHit && task.known === "STOPPED" && (exit === null || exit.unknown || exit.signal === SIGKILL)) return undefined;
    if (task.known !== model.known) return `${name}: ${state}`;
    if (model.code !== null && container!.exit?.code !== model.code && !(hit.has("monitor") && container!.exit?.unknown))
      return `${name}: ${state}`;
    if (!hit.has("monitor") && !hit.has("runt") && container!.restarts !== model.restarts) return `${name}: ${state}`;
    if (model.restarts === 0 && !hit.has("runt") && !allPrinted(container!.log).startsWith(model.log))
      return `${name}: its log has gaps, ${state}: ${JSON.stringify(allPrinted(container!.log))}`;
    if (container!.exit?.unknown && !hit.has("monitor")) return `${name}: nobody has killed its monitor, ${state}`;
    return undefined;
  }

  test(
    "every task is where the model has it, and nothing is left",
    async () => {
      const next = random(SEED);
      const counts: Record<Kind, number> = { daemon: 0, records: 0, pump: 0, monitor: 0, runt: 0 };
      let begunTwice = 0;
      for (let round = 0; round < ROUNDS; round++) {
        const shared = sharedIn(scene, "random");
        const models = new Map(Array.from({ length: TASKS }, (_, index) => [`t${index}`, modelOf(`t${index}`, index)]));
        const text = [...models]
          .map(([name, { script, container = "" }]) => scriptTask(scene.rootfs(), { name, script, container, shared: shared.directory }))
          .join("");
        const first = await scene.daemon();
        expect((await http(scene.socket, "POST", "/v1/apply", { text })).status).toBe(200);
        const hits: Hits = new Map();
        const last = await killAtRandom(next, first, hits, counts);

        const begun = (name: string) => shared.lines().filter((line) => line === name).length;
        let objections: readonly string[] = [];
        await until(
          async () => {
            const all = new Map((await tasks()).map((one) => [one.name, one]));
            objections = [...models].flatMap(
              ([name, model]) => objection(all.get(name), name, model, hits.get(name) ?? new Set(), begun(name)) ?? [],
            );
            return objections.length === 0;
          },
          undefined,
          () => `round ${round}, seed ${SEED}: ${objections.join("\n")}`,
        );
        // A launch that was ended half-way is begun again: its program may have run by then.
        for (const [name, { restarts }] of models)
          if (begun(name) > restarts + 1 && !hits.get(name)?.has("monitor") && !hits.get(name)?.has("records")) begunTwice++;
        for (const name of models.keys()) expect((await http(scene.socket, "DELETE", `/v1/tasks/${name}`)).status).toBe(202);
        await until(async () => (await tasks()).length === 0);
        await last.kill();
        expect([scene.list(), taskCgroups(), left("executors"), left("tasks"), left("logs"), left("volumes")]).toEqual(Array(6).fill([]));
        expect(
          existsSync(join(executors, "@runtime")) ? readdirSync(join(executors, "@runtime")).filter((one) => !one.startsWith("@")) : [],
        ).toEqual([]);
      }
      console.log(
        `killed at random: ${Object.entries(counts)
          .map((one) => one.join(" "))
          .join(", ")}; begun again after a kill in its launch: ${begunTwice}`,
      );
    },
    LONGEST_MS * ROUNDS,
  );
});

/** Or it never ran, or its launch was ended. */
const isEndUnknown = (exit: ContainerExit | null) => exit === null || exit.unknown || exit.signal === SIGKILL;

/** What is left is told to end first, and may: then it is known how it has ended, and why. */
const isLossTold = (reason: string | null): boolean => /^the records of container .* were lost/.test(reason ?? "");

async function untilSome<T>(look: () => readonly T[]): Promise<readonly T[]> {
  for (let tries = 0; tries < 40; tries++) {
    const found = look();
    if (found.length > 0) return found;
    await sleep(5);
  }
  return [];
}
