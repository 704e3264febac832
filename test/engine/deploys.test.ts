/**
 * Deploys without a lost request: a service of three replicas is updated again and again while clients ask it all the time. Every fifth version is broken, the daemon is killed
 * in a third of the updates, and somebody else flushes the packet filter, or the engine's table of it, in a tenth. `make test-deploys` makes many updates (RUNT_DEPLOYS, RUNT_ENGINE_SEED).
 */
import { cpSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { ServiceView, TaskView } from "../../src/engine/index.ts";
import { program } from "../support/programs.ts";
import { random } from "../support/random.ts";
import { type ClientReport, deployClient } from "./deploy-client.ts";
import { useNetworkHost } from "./network-host.ts";
import { noNetworks } from "./network-plugins.ts";
import { type Daemon, eventsOf, http, isRoot, LONGEST_MS, until, useEngine } from "./support.ts";

const UPDATES = Number(process.env["RUNT_DEPLOYS"] ?? 4);
const SEED = Number(process.env["RUNT_ENGINE_SEED"] ?? 1);
/** File for the events and samples of the run, from which tools/gen-rollout-picture.ts draws one update. */
const RECORD = process.env["RUNT_DEPLOYS_RECORD"];

const PORT = 30_480;
const REPLICAS = 3;
const PER_SECOND = 200;
const SAMPLE_MS = 10;
/** Rules that others have removed are written again within this time, or within this time after the start of a daemon that was killed meanwhile. */
const MENDED_MS = 2_000;
/** As a firewall does that is loaded anew, and as somebody does who takes the engine's table for a remainder. */
const FLUSHES = ["iptables -t nat -F; iptables -F", "nft flush ruleset", "nft flush table TABLE", "nft delete table TABLE"];

type Broken =
  | "does not start"
  | "crashes after 1 s"
  | "is never ready"
  | "is ready and then answers 500"
  | "has its port closed"
  | "has a wrong image";
const WAYS: readonly Broken[] = [
  "crashes after 1 s",
  "does not start",
  "is ready and then answers 500",
  "is never ready",
  "has its port closed",
  "has a wrong image",
];

interface Version {
  readonly version: string;
  readonly broken?: Broken | undefined;
  /** Absent: all. */
  readonly parallelism?: number;
}

interface Update extends Version {
  readonly isKilled: boolean;
  readonly isFlushed: boolean;
}

interface Sample {
  readonly atMs: number;
  readonly ready: number;
}

describe.skipIf(!isRoot || noNetworks !== undefined)("deploys (needs root and CNI plugins)", () => {
  const scene = useEngine();
  const host = useNetworkHost(scene);

  const task = (index: number, { version, broken, parallelism = REPLICAS }: Version, rootfs: string, marks: string) => {
    const name = `web-${index}`;
    const fault: Partial<Record<Broken, readonly string[]>> = {
      "crashes after 1 s": ["exit=1000"],
      "is ready and then answers 500": ["errors=300"],
      "has its port closed": ["silent"],
    };
    const http = { http: { port: 8080 }, interval: "300ms", timeout: "5s", retries: 3, startPeriod: "500ms", startInterval: "100ms" };
    const never = { command: ["/bin/false"], interval: "300ms", retries: 3 };
    return {
      name,
      update: { order: "start-first", parallelism, minReady: "3s", monitor: "500ms", drain: "1s", readyWithin: "30s" },
      replica: { of: "web", index },
      network: { mode: "bridge", ports: [{ container: 8080, host: PORT, service: { name: "web" } }] },
      containers: [
        {
          name: "main",
          ...(broken === "has a wrong image" ? { image: "oci:/nowhere:1" } : { rootfs }),
          command: broken === "does not start" ? "/missing" : "/server",
          args: [`${name} ${version}`, "8080", `mark=/marks/${name}~${version}`, ...((broken && fault[broken]) ?? [])],
          healthCheck: broken === "is never ready" ? never : http,
          mounts: [{ source: marks, target: "/marks" }],
          stopTimeout: "20s",
        },
      ],
    };
  };

  const service = async (): Promise<ServiceView> => JSON.parse((await http(scene.socket, "GET", "/v1/rollouts/web")).text);
  const tasks = async (): Promise<TaskView[]> => JSON.parse((await http(scene.socket, "GET", "/v1/tasks")).text).tasks;

  test(
    "R11 a service is updated again and again under 200 requests a second: no request fails, no connection is cut, no broken version stays, and never fewer replicas are ready than promised",
    async () => {
      const rootfs = scene.rootfs();
      cpSync(program("server"), join(rootfs, "server"));
      const marks = join(scene.directory, "marks");
      mkdirSync(marks, { recursive: true });
      const next = random(SEED);
      let daemon: Daemon = await host.daemon();

      /** Asks until a daemon has recorded it: the one that is asked may be killed before it answers. */
      const apply = async (of: Version): Promise<number> => {
        const text = Array.from({ length: REPLICAS }, (_, index) => JSON.stringify(task(index, of, rootfs, marks))).join("\n---\n");
        let revision: number | undefined;
        await until(async () => {
          const answer = await http(scene.socket, "POST", "/v1/apply", { text }).catch(() => undefined);
          if (answer !== undefined && answer.status !== 503) expect(answer.status, answer.text).toBe(200);
          revision = answer?.status === 200 ? JSON.parse(answer.text).applied[0].revision : undefined;
          return revision !== undefined;
        }, LONGEST_MS);
        return revision!;
      };
      const ended = async (revision: number): Promise<ServiceView> => {
        let found: ServiceView | undefined;
        await until(
          async () => {
            found = await service().catch(() => found);
            const isDone = found?.history.find((one) => one.revision === revision)?.verdict !== "unknown";
            return found !== undefined && isDone && found.state !== "progressing";
          },
          LONGEST_MS,
          () => JSON.stringify(found),
        );
        return found!;
      };

      await ended(await apply({ version: "v0" }));
      const bad = new Set<string>();
      const samples: Sample[] = [];
      const fewer: Sample[] = [];
      const sample = () => {
        const good = readdirSync(marks).flatMap((name) => {
          const [, replica = "", version = ""] = /^(.*)~(v\d+)\./.exec(name) ?? [];
          return bad.has(version) ? [] : [replica];
        });
        const one = { atMs: Date.now(), ready: new Set(good).size };
        if (RECORD !== undefined) samples.push(one);
        if (one.ready < REPLICAS) fewer.push(one);
      };
      await until(() => readdirSync(marks).length === REPLICAS);
      const sampling = setInterval(sample, SAMPLE_MS);
      const client = host.client(...deployClient(PORT, PER_SECOND));
      await until(() => client.text() !== "");

      const flushes: { readonly how: string; readonly atMs: number }[] = [];
      const kills: { readonly atMs: number; readonly readyMs: number }[] = [];
      const told: { readonly update: Update; readonly revision: number; readonly tookMs: number; readonly end: string }[] = [];
      const wrong: string[] = [];
      const begunMs = Date.now();
      try {
        let good = "v0";
        for (let at = 1; at <= UPDATES; at++) {
          const broken = at % 5 === 3 ? WAYS[Math.floor(at / 5) % WAYS.length] : undefined;
          const update: Update = { version: `v${at}`, broken, isKilled: at % 3 === 2, isFlushed: at % 10 === 4 };
          if (broken !== undefined) bad.add(update.version);
          const updateBegun = Date.now();
          const applied = apply(update);
          const disturbed = (async () => {
            if (update.isFlushed) {
              await sleep(next(1500));
              const table = /table (ip runt-[0-9a-f]{8})/.exec(await host.on("nft", "list", "tables"))![1]!;
              const how = FLUSHES[next(FLUSHES.length)]!;
              flushes.push({ how, atMs: Date.now() });
              await host.on("sh", "-c", how.replace("TABLE", table));
            }
            if (!update.isKilled) return;
            await sleep(next(3000));
            const atMs = Date.now();
            await daemon.kill();
            await sleep(next(300));
            daemon = await host.daemon();
            kills.push({ atMs, readyMs: Date.now() });
          })();
          const revision = await applied;
          const shown = await ended(revision).finally(() => disturbed);
          const { kind, state } = shown;
          const verdict = shown.history.find((one) => one.revision === revision)?.verdict;
          told.push({ update, revision, tookMs: Date.now() - updateBegun, end: `${kind} ${state} ${verdict}` });
          const isRight =
            state === "complete" && (broken === undefined ? verdict === "good" && shown.revision === revision : verdict === "failed");
          if (broken === undefined && isRight) good = update.version;
          if (!isRight)
            wrong.push(`${JSON.stringify(update)}: ${kind} ${state} ${verdict}: ${shown.reason} ${JSON.stringify(shown.history.at(-1))}`);
          const running = (await tasks()).filter(({ desired }) => desired === "RUNNING");
          const details = running.map(async ({ id }) => (await http(scene.socket, "GET", `/v1/tasks/${id}/detail`)).text);
          for (const text of await Promise.all(details))
            if (JSON.parse(text).spec.containers[0].args[0].split(" ")[1] !== good)
              wrong.push(`after ${update.version} a replica is not of ${good}`);
          if (running.length !== REPLICAS) wrong.push(`after ${update.version} there are ${running.length} replicas`);
        }
        await until(async () => (await tasks()).length === REPLICAS, LONGEST_MS);
        if (RECORD !== undefined)
          for (const [at, broken] of [undefined, WAYS[0]].entries()) {
            const version = `v${UPDATES + 1 + at}`;
            if (broken !== undefined) bad.add(version);
            await ended(await apply({ version, broken, parallelism: 1 }));
            await until(async () => (await tasks()).length === REPLICAS, LONGEST_MS);
          }
      } finally {
        clearInterval(sampling);
      }
      const report: ClientReport = JSON.parse(await client.end());
      const mendedBy = (flushMs: number) => {
        const kill = kills.find(({ atMs, readyMs }) => readyMs > flushMs && atMs < flushMs + MENDED_MS);
        return Math.max(flushMs, kill?.readyMs ?? 0) + MENDED_MS;
      };
      const isFlushed = (atMs: number, tookMs = 0) => flushes.some((one) => atMs + tookMs >= one.atMs && atMs <= mendedBy(one.atMs));
      const outages = flushes.map(({ how, atMs }) => {
        const ends = report.failures.map(([, , begun, took]) => begun + took).filter((one) => one >= atMs && one <= mendedBy(atMs));
        return { how, requests: ends.length, lastAfterMs: Math.max(atMs, ...ends) - atMs };
      });
      const failed = report.failures.filter(([, , atMs, tookMs]) => !isFlushed(atMs, tookMs));
      const cut = report.cut.filter(([, atMs]) => !isFlushed(atMs));
      const [brokenOnes, disturbed] = [told.filter(({ update }) => update.broken), report.failures.length - failed.length];
      const summary = {
        ...{ updates: UPDATES, seed: SEED, seconds: Math.round((Date.now() - begunMs) / 1000), requests: report.requests },
        ...{ failed: failed.length, cut: cut.length, connections: report.connections, errors: report.errors },
        ...{ whileFlushed: disturbed, cutWhileFlushed: report.cut.length - cut.length, flushes: flushes.length, outages },
        broken: brokenOnes.length,
        rolledBack: brokenOnes.filter(({ end }) => end === "rollback complete failed").length,
        kills: told.filter(({ update }) => update.isKilled).length,
        ...{ fewer: fewer.length, wrong: wrong.length },
      };
      if (RECORD !== undefined)
        writeFileSync(RECORD, JSON.stringify({ summary, told, kills, flushes, samples, report, events: await eventsOf(scene.socket, 0) }));
      if (process.env["RUNT_DEPLOYS"] !== undefined) console.log(JSON.stringify(summary));
      expect({ summary, wrong, failed: failed.slice(0, 20), cut: cut.slice(0, 20), fewer: fewer.slice(0, 20) }).toEqual({
        summary: { ...summary, failed: 0, cut: 0, errors: {}, rolledBack: brokenOnes.length, fewer: 0, wrong: 0 },
        ...{ wrong: [], failed: [], cut: [], fewer: [] },
      });
    },
    Math.max(LONGEST_MS, UPDATES * 60_000),
  );

  test(
    "R8 a connection stays with the replica that was replaced until it ends or drain is over, and new ones go elsewhere; describe tells of it",
    async () => {
      const rootfs = scene.rootfs();
      cpSync(program("server"), join(rootfs, "server"));
      const marks = join(scene.directory, "marks");
      mkdirSync(marks, { recursive: true });
      await host.daemon();
      const apply = async (version: string, drain: string) => {
        const one = task(0, { version }, rootfs, marks);
        const text = JSON.stringify({ ...one, update: { ...one.update, minReady: 0, monitor: "200ms", drain } });
        expect((await http(scene.socket, "POST", "/v1/apply", { text })).status).toBe(200);
      };
      /** Asks by one connection, five times a second, until the server ends it: prints each version, and "end". */
      const held = () =>
        host.client(
          process.execPath,
          "-e",
          `const s = require('net').connect(${PORT}, '127.0.0.1'); console.log('up');
           setInterval(() => s.write('GET / HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n'), 200);
           s.on('data', (d) => console.log(String(d).trim().split('\\n').at(-1))).on('close', () => { console.log('end'); process.exit(); }).on('error', () => {});
           process.stdin.resume().on('end', () => process.exit());`,
        );
      const fresh = () =>
        host.on(
          process.execPath,
          "-e",
          `require('http').get({ port: ${PORT}, agent: false }, (r) => r.on('data', (d) => console.log(String(d).trim())))`,
        );
      await apply("v1", "3s");
      await until(async () => (await service()).state === "complete" && (await fresh().catch(() => "")) === "web-0 v1\n", LONGEST_MS);
      const client = held();
      await until(() => client.text().includes("web-0 v1"));
      await apply("v2", "1m");
      await until(async () => (await tasks()).some(({ drain }) => drain !== undefined), LONGEST_MS);
      const drained = (await tasks()).find(({ drain }) => drain !== undefined)!;
      const seenAt = Date.now();
      // The time is that of the version that is replaced.
      expect(drained.drain!.untilMs - seenAt).toBeLessThanOrEqual(3000);
      expect(drained.drain!.connections).toBe(1);
      expect(await fresh()).toBe("web-0 v2\n");
      expect((await scene.ctl("describe", drained.id)).stdout).toMatch(/\nDrain: +waits for the end of 1 connection, until \S+ at most\n/);
      expect((await scene.ctl("describe", "web")).stdout).toContain(`\nDrain:          ${drained.id} waits for the end of 1 connection`);
      await until(() => client.text().endsWith("end\n"), LONGEST_MS);
      expect(Date.now()).toBeGreaterThanOrEqual(drained.drain!.untilMs - 50);
      expect(new Set(client.text().trim().split("\n"))).toEqual(new Set(["up", "web-0 v1", "end"]));
      await until(async () => (await tasks()).length === 1, LONGEST_MS);

      // The last connection has ended long before the time is over.
      const other = held();
      await until(() => other.text().includes("web-0 v2"));
      await apply("v3", "1m");
      await until(async () => (await tasks()).some(({ drain }) => drain !== undefined), LONGEST_MS);
      await other.end();
      const begun = performance.now();
      await until(async () => (await tasks()).length === 1, LONGEST_MS);
      expect(performance.now() - begun).toBeLessThan(30_000);
    },
    LONGEST_MS,
  );
});
