/** A container that prints much while no daemon is there: it is not held up, and nothing of it is lost. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { logFiles, printed } from "../support/log-file.ts";
import { http, isRoot, sharedIn, until, useEngine } from "./support.ts";

/** Seconds without a daemon. RUNT_ENGINE_AWAY=60: the long form. */
const AWAY = Number(process.env["RUNT_ENGINE_AWAY"] ?? 8);
const LINES = 1_000;
/** Each with its number, the seconds since the boot, and 80 zeros: about 1 MB/s where the processor is free. */
const PRINT = `awk -v n=$n -v t=$(cut -d' ' -f1 /proc/uptime) 'BEGIN { for (i = 0; i < ${LINES}; i++) printf "%d %s %080d\\n", n + i, t, 0 }'`;
/** On a machine that is very busy. */
const LEAST_BYTES = 100_000;

describe.skipIf(!isRoot)("output while no daemon is there (needs root)", () => {
  const scene = useEngine();

  test.each([["the daemon"], ["the daemon, and meanwhile the writer of the log"]])(
    `%s is away for ${AWAY} s: the container prints on, and each line is there once`,
    async (who) => {
      const { directory } = sharedIn(scene, "away");
      const first = await scene.daemon();
      const script = `n=0; while [ ! -e /shared/end ]; do ${PRINT}; n=$((n + ${LINES})); sleep 0.08; done; exec sleep 1000`;
      const container = {
        ...{ name: "app", rootfs: scene.rootfs(), command: "/bin/sh", args: ["-c", script], stopSignal: "SIGKILL" },
        mounts: [{ source: directory, target: "/shared" }],
        log: { maxSize: "8Mi", maxFiles: 32 },
      };
      await scene.ctl("apply", "-f", scene.file("web.yaml", JSON.stringify({ name: "web", containers: [container] })));
      const view = async () => JSON.parse((await http(scene.socket, "GET", "/v1/tasks/web")).text).containers[0];
      await until(async () => (await view()).known === "RUNNING");
      const { id, log } = await view();
      const size = () => logFiles(log).reduce((sum, path) => sum + readFileSync(path).length, 0);
      await until(() => size() > LEAST_BYTES);
      await first.kill();
      const before = size();
      if (who.includes("writer"))
        process.kill(JSON.parse(readFileSync(join(scene.stateDir, "executors", id, "record.json.log"), "utf8")).pid, "SIGKILL");
      await sleep(AWAY * 1_000);
      const bytes = size() - before;
      await scene.daemon();
      scene.file("shared-away/end", "");
      const lines = () => printed(log, "stdout").trimEnd().split("\n");
      let last = -1;
      // It has ended when nothing more comes.
      await until(async () => {
        const count = lines().length;
        if (count === last && count % LINES === 0) return true;
        last = count;
        await sleep(500);
        return false;
      });
      const all = lines().map((line) => line.split(" "));
      expect(all.findIndex(([number], at) => Number(number) !== at)).toBe(-1);
      const times = all.map(([, seconds]) => Number(seconds));
      const longest = times.reduce((most, time, at) => Math.max(most, time - (times[at - 1] ?? time)), 0);
      console.log(`${(bytes / AWAY / 1e6).toFixed(2)} MB/s without a daemon; the longest pause was ${longest.toFixed(1)} s`);
      expect([bytes > AWAY * LEAST_BYTES, longest < AWAY / 2]).toEqual([true, true]);
      expect((await scene.ctl("delete", "web")).status).toBe(0);
    },
    60_000 + 10 * AWAY * 1_000,
  );
});
