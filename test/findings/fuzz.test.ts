/**
 * Mutants never make validate throw, and never take it more than 50 ms. `make fuzz-config` has 100,000 of them (RUNT_FUZZ), a part of
 * them through the real program; `make test` has the first few.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { CHAPTERS } from "../../src/runtime/check/catalogue/index.ts";
import { validate } from "../../src/runtime/diagnostics/validate/index.ts";
import { sampleConfig } from "../support/config.ts";
import { exampleConfig, exampleView, HOST_FACTS } from "../support/example-host.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { REPOSITORY } from "../support/programs.ts";
import { random } from "../support/random.ts";
import { mutant } from "./mutate.ts";

const COUNT = Number(process.env["RUNT_FUZZ"] ?? 3000);
const SEED = Number(process.env["RUNT_FUZZ_SEED"] ?? 1);
/** Of `make test` the limit of the lane holds. */
const TIMEOUT = process.env["RUNT_FUZZ"] === undefined ? {} : { timeout: 3_600_000 };
const CONTROLLERS = ["blkio", "cpu", "cpuset", "devices", "freezer", "hugetlb", "memory", "net_cls", "net_prio", "pids", "rdma"];
/** Of the program, one of so many. */
const PROGRAM_SHARE = 50;
/** Of one validation, in milliseconds of processor time: what else the machine does counts little then, and the best of some tries is meant. */
const MOST_MS = 50;
const TRIES = 5;

const known = new Set(["config-invalid", ...CHAPTERS.flatMap(([, entries]) => Object.keys(entries))]);
const samples = ["hello", "shell", "limited", "containerd"].map(sampleConfig);
const examples = CHAPTERS.flatMap(([, entries]) => Object.values(entries).map(({ example }) => exampleConfig(example, example.broken)));
const seeds: readonly unknown[] = [...samples, ...samples, ...samples, ...examples];

function* mutants(count: number, step: number): Generator<{ readonly number: number; readonly text: string }> {
  for (let number = 0; number < count; number += step) {
    const draw = random(SEED * 1_000_003 + number);
    yield { number, text: mutant(seeds[draw(seeds.length)], draw) };
  }
}

/** `action` returns the milliseconds that it took. */
function fastest(action: () => number): number {
  let best = Number.POSITIVE_INFINITY;
  for (let left = TRIES; left > 0 && best > MOST_MS; left--) best = Math.min(best, action());
  return best;
}

function processorTime(action: () => void): number {
  const before = process.cpuUsage();
  action();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** Runs a program, and writes the time of shell and children to descriptor 3 (times, sh(1)). */
const TIMED = ["-c", '"$@"; status=$?; times >&3; exit $status', "sh"];

/** The second line of sh's times: the children's, "0m0.010000s 0m0.000000s". */
function childrenTime(times: string): number {
  const [user, system] = [...(times.split("\n")[1] ?? "").matchAll(/(\d+)m([\d.]+)s/g)].map(([, m, s]) => Number(m) * 60 + Number(s));
  if (user === undefined || system === undefined) throw new Error(`times: ${times}`);
  return (user + system) * 1000;
}

test(`${COUNT} mutants, in this process`, TIMEOUT, () => {
  const v1 = exampleView({
    facts: { cgroup: { version: 1, hierarchies: [{ mountpoint: "/sys/fs/cgroup/all", controllers: CONTROLLERS, writable: true }] } },
  });
  const hosts = [exampleView({}), undefined, v1];
  const troubles: string[] = [];
  let [clean, slowest] = [0, 0];
  for (const { number, text } of mutants(COUNT, 1)) {
    const options = { view: hosts[number % 3], rootless: number % 8 === 0, systemd: number % 16 === 1 };
    try {
      let findings: ReturnType<typeof validate>["findings"] = [];
      const taken = fastest(() =>
        processorTime(() => {
          findings = validate(text, options).findings;
        }),
      );
      slowest = Math.max(slowest, taken);
      if (taken > MOST_MS) troubles.push(`${number}: ${taken.toFixed(0)} ms`);
      if (findings.length === 0) clean++;
      const odd = findings.find(({ code, line, column }) => !known.has(code) || !(line >= 1) || !(column >= 1));
      if (odd) troubles.push(`${number}: ${JSON.stringify(odd)}`);
    } catch (error) {
      troubles.push(`${number}: ${(error as Error).stack?.split("\n").slice(0, 3).join(" ")}`);
    }
    if (troubles.length > 20) break;
  }
  console.log(`${COUNT} mutants (seed ${SEED}): ${clean} clean, the slowest took ${slowest.toFixed(1)} ms`);
  expect(troubles).toEqual([]);
});

test(`${Math.ceil(COUNT / PROGRAM_SHARE)} of them, by the program`, TIMEOUT, () => {
  const directory = mkdtempSync(join(tmpdir(), "runt-fuzz-"));
  const troubles: string[] = [];
  let slowest = 0;
  try {
    const host = join(directory, "host.json");
    writeFileSync(host, JSON.stringify(HOST_FACTS));
    for (const { number, text } of mutants(COUNT, PROGRAM_SHARE)) {
      const choice = ["none", host, "live"][(number / PROGRAM_SHARE) % 3] ?? "none";
      let result = { status: null as number | null, stderr: "" };
      const taken = fastest(() => {
        const { status, stderr, output } = spawnSync(
          "sh",
          [...TIMED, join(REPOSITORY, "bin/runt"), "validate", "--host", choice, "-b", directory, "-"],
          { input: text, encoding: "utf8", timeout: PATIENCE_MS, maxBuffer: 1 << 26, stdio: ["pipe", "pipe", "pipe", "pipe"] },
        );
        result = { status, stderr };
        return childrenTime(output[3] ?? "");
      });
      slowest = Math.max(slowest, taken);
      if (taken > MOST_MS) troubles.push(`${number}: ${taken.toFixed(0)} ms for ${text.length} characters`);
      if ((result.status !== 0 && result.status !== 1) || result.stderr !== "")
        troubles.push(`${number} (${choice}): status ${result.status}: ${result.stderr.slice(0, 300)}`);
      if (troubles.length > 20) break;
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
  console.log(`the slowest call of the program took ${slowest.toFixed(1)} ms, its start included`);
  expect(troubles).toEqual([]);
});
