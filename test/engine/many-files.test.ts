/** An image of very many files: got, unpacked, run and removed in bounded time and memory. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { allPrinted } from "../support/log-file.ts";
import { SLOW } from "../support/patience.ts";
import { baseLayer, tar, writeLayout } from "./image-files.ts";
import { http, isRoot, LONGEST_MS, until, useEngine } from "./support.ts";

/** RUNT_ENGINE_FILES=100000: the long form. */
const FILES = Number(process.env["RUNT_ENGINE_FILES"] ?? 5_000);
const HAS_PROGRAMS = ["skopeo", "umoci"].every((name) => existsSync(`/usr/bin/${name}`));
/** What the daemon may need more than before: it reads the layer as a stream. */
const MEMORY_KIB = 64 * 1024;
const FIRST_MS = (60_000 + 2 * FILES) * SLOW;

describe.skipIf(!isRoot || !HAS_PROGRAMS)("an image of many files (needs root, skopeo and umoci)", () => {
  const scene = useEngine();
  const task = async () => JSON.parse((await http(scene.socket, "GET", "/v1/tasks/t")).text);

  test(
    `${FILES} files: the container has them all; the daemon takes no memory for each; the next container unpacks nothing, and nothing of them stays`,
    async () => {
      const names = Array.from({ length: FILES }, (_, at) => ({
        name: `many/d${Math.floor(at / 1000)}/f${at}`,
        content: at % 100 === 0 ? "x" : "",
      }));
      const directory = join(scene.directory, "layout-many");
      writeLayout(directory, { layers: [baseLayer(), tar(names)] });
      const daemon = await scene.daemon();
      const peak = () => Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${daemon.pid}/status`, "utf8"))![1]);
      const script = "find /many -type f | wc -l; trap 'exit 0' TERM; sleep 1000 & wait $!";
      const text = JSON.stringify({
        name: "t",
        containers: [{ name: "main", image: `oci:${directory}:v1`, command: "/bin/sh", args: ["-c", script] }],
      });
      const before = peak();
      const run = async (boundMs: number) => {
        expect((await http(scene.socket, "POST", "/v1/apply", { text })).status).toBe(200);
        await until(async () => /RUNNING|STOPPED/.test((await task()).known), boundMs);
        expect(await task()).toMatchObject({ known: "RUNNING", reason: null });
        await until(async () => (await allPrinted((await task()).containers[0].log)) !== "", LONGEST_MS);
        expect(await allPrinted((await task()).containers[0].log)).toBe(`${FILES}\n`);
      };
      await run(FIRST_MS);
      expect(peak() - before).toBeLessThan(MEMORY_KIB);
      const layers = join(scene.stateDir, "images/layers");
      const unpacked = readdirSync(layers).sort();
      expect((await scene.ctl("delete", "t")).status).toBe(0);
      await run(LONGEST_MS);
      expect(readdirSync(layers).sort()).toEqual(unpacked);
      expect((await scene.ctl("delete", "t")).status).toBe(0);
      expect((await scene.ctl("images", "prune")).status).toBe(0);
      for (const name of ["layers", "staging", "roots"]) expect(readdirSync(join(scene.stateDir, "images", name)), name).toEqual([]);
    },
    2 * FIRST_MS + 2 * LONGEST_MS,
  );
});
