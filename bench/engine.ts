/**
 * Figures of the task engine that need neither network nor images, as root:
 *
 *   tsx bench/engine.ts [--shots N] [--running N] [--flat N]
 *
 * Each is printed beside its target. Containers are of the bench's own busybox; each writes a log, and has a cgroup for its task. A machine that others use has higher times.
 */
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { BenchDaemon, type Footprint, type Told } from "./engine-daemon.ts";
import { describe, machine } from "./machine.ts";
import { median, quantile } from "./stats.ts";

const MIB = 1 << 20;
const LATENCIES = 100;
const GETS = 10;
const BATCH = 250;
const SETTLED_MS = 30_000;

const { values } = parseArgs({
  options: {
    shots: { type: "string", default: "200" },
    running: { type: "string", default: "1000" },
    flat: { type: "string", default: "10000" },
  },
});

function row(what: string, value: string, target: string): void {
  console.log(`| ${what} | ${value} | ${target} |`);
}

const ms = (value: number) => `${value.toFixed(1)} ms`;
const mib = (bytes: number) => `${(bytes / MIB).toFixed(1)} MiB`;

class Bench {
  readonly #daemon: BenchDaemon;
  readonly #rootfs: string;
  #names = 0;

  constructor(daemon: BenchDaemon, rootfs: string) {
    this.#daemon = daemon;
    this.#rootfs = rootfs;
  }

  /** Create to STOPPED recorded, all of them applied at once. */
  async shots(count: number): Promise<number> {
    const { stopped, stop } = await this.#untilStopped(count);
    const begun = performance.now();
    const names = await this.#apply(count, ["true"]);
    await stopped;
    const seconds = (performance.now() - begun) / 1000;
    stop();
    await this.#delete(names);
    return count / seconds;
  }

  /** From the end that the monitor has recorded (to the millisecond) to its event, one task after the other. */
  async latencies(): Promise<number[]> {
    const found: number[] = [];
    for (let at = 0; at < LATENCIES; at++) {
      let told: ((latency: number) => void) | undefined;
      const latency = new Promise<number>((done) => {
        told = done;
      });
      const { stop } = await this.#daemon.events((event, arrived) => {
        if (event.type === "container" && event.known === "STOPPED" && event.exit) told!(Math.max(0, arrived - event.exit.endedWallMs));
      });
      const names = await this.#apply(1, ["true"]);
      found.push(await latency);
      stop();
      await this.#delete(names);
    }
    return found.sort((a, b) => a - b);
  }

  async running(
    count: number,
  ): Promise<{ readonly names: readonly string[]; readonly get: number; readonly client: number; readonly rss: readonly number[] }> {
    const { running, stop } = await this.#untilRunning(count);
    const names: string[] = [];
    while (names.length < count) names.push(...(await this.#apply(Math.min(BATCH, count - names.length), ["sleep", "100000"])));
    await running;
    stop();
    const gets: number[] = [];
    const clients: number[] = [];
    for (let at = 0; at < GETS; at++) {
      const begun = performance.now();
      await this.#daemon.call("GET", "/v1/tasks");
      gets.push(performance.now() - begun);
      clients.push(this.#daemon.clientGetMs());
    }
    const rss = [this.#daemon.footprint().rssBytes];
    // V8 gives back what the starts have left when nothing has happened for a while.
    await sleep(SETTLED_MS);
    rss.push(this.#daemon.footprint().rssBytes);
    await this.#delete(names);
    return { names, get: median(gets), client: median(clients), rss };
  }

  async flat(count: number): Promise<Footprint[]> {
    const found: Footprint[] = [];
    for (let done = 0; done < count; done += BATCH) {
      await this.shots(BATCH);
      found.push(this.#daemon.footprint());
    }
    return found;
  }

  async #apply(count: number, [command, ...args]: readonly string[]): Promise<string[]> {
    const names = Array.from({ length: count }, () => `t${this.#names++}`);
    const containers = [{ name: "main", rootfs: this.#rootfs, command, args, stopSignal: "SIGKILL" }];
    const text = names.map((name) => JSON.stringify({ name, containers })).join("\n---\n");
    await this.#daemon.call("POST", "/v1/apply", { text });
    return names;
  }

  async #delete(names: readonly string[]): Promise<void> {
    const { removed, stop } = await this.#untilRemoved(names.length);
    for (const name of names) await this.#daemon.call("DELETE", `/v1/tasks/${name}`);
    await removed;
    stop();
  }

  async #untilStopped(count: number) {
    const { reached: stopped, stop } = await this.#until(count, ({ type, known }) => type === "task" && known === "STOPPED");
    return { stopped, stop };
  }

  async #untilRunning(count: number) {
    const { reached: running, stop } = await this.#until(count, ({ type, known }) => type === "task" && known === "RUNNING");
    return { running, stop };
  }

  async #untilRemoved(count: number) {
    const { reached: removed, stop } = await this.#until(count, ({ type }) => type === "removed");
    return { removed, stop };
  }

  async #until(count: number, isOne: (event: Told) => boolean) {
    let reach: (() => void) | undefined;
    const reached = new Promise<void>((done) => {
      reach = done;
    });
    const seen = new Set<string>();
    const { stop } = await this.#daemon.events((event) => {
      if (isOne(event) && seen.add(event.name).size === count) reach!();
    });
    return { reached, stop };
  }
}

const daemon = new BenchDaemon();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void daemon.end().then(() => process.exit(1)));
try {
  const rootfs = join(daemon.directory, "rootfs");
  mkdirSync(join(rootfs, "bin"), { recursive: true });
  for (const name of ["proc", "dev", "sys", "tmp"]) mkdirSync(join(rootfs, name));
  for (const name of ["true", "sleep"]) cpSync(busybox(), join(rootfs, "bin", name));
  await daemon.ready();
  const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
  console.log(`runtd ${version}, Node ${process.versions.node}. ${describe(machine(resolve("bin/runt")))}.\n`);
  console.log("| what | measured | target |\n| --- | ---: | ---: |");
  const bench = new Bench(daemon, rootfs);
  const shots = Number(values.shots);
  if (shots > 0) {
    await bench.shots(Math.min(shots, 20));
    row(`one-shot tasks a second, ${shots} at once`, (await bench.shots(shots)).toFixed(1), ">= 50");
    const latencies = await bench.latencies();
    row("recorded end to event, p50", ms(quantile(latencies, 0.5)), "< 5 ms");
    row("recorded end to event, p99", ms(quantile(latencies, 0.99)), "< 25 ms");
  }
  const running = Number(values.running);
  if (running > 0) {
    const { get, client, rss } = await bench.running(running);
    row(`\`GET /v1/tasks\` with ${running} running tasks`, ms(get), "< 150 ms");
    row("`runtctl get`, the whole process", ms(client), "");
    row(`memory of the daemon with ${running} running tasks: right after, and half a minute later`, rss.map(mib).join(", "), "< 120 MB");
  }
  const flat = Number(values.flat);
  if (flat > 0) {
    const found = await bench.flat(flat);
    const [first, middle, last] = [found[0]!, found[Math.floor(found.length / 2)]!, found.at(-1)!];
    const three = (of: (footprint: Footprint) => string | number) => [first, middle, last].map(of).join(", ");
    row(
      `over ${found.length * BATCH} tasks: memory after the first ${BATCH}, half, all`,
      three((one) => mib(one.rssBytes)),
      "flat",
    );
    row(
      "open descriptors",
      three((one) => one.descriptors),
      "flat",
    );
    row(
      "bytes of the store",
      three((one) => mib(one.storeBytes)),
      "flat",
    );
    row(
      "files and directories",
      three((one) => one.inodes),
      "flat",
    );
  }
} finally {
  await daemon.end();
}

function busybox(): string {
  return execFileSync("sh", ["-c", "command -v busybox"], { encoding: "utf8" }).trim();
}
