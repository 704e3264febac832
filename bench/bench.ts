/**
 * Pairwise, interleaved: runt against one peer, each verb alone. Prints medians, minimums, ratios and peak RSS.
 *
 *   npx tsx bench/bench.ts [--peer crun|runc] [--rounds 40] [--verbs state,run,...] [--gate state=0.75,run=0.85] [--churn]
 *                          [--seccomp warm|cold] [--bundle spec|containerd] [--json FILE]
 *
 * --churn: with cgroups being made, entered and removed in the background.
 * --seccomp warm|cold: with a filter as engines have it; cold: what a runtime has cached of it is removed before every round.
 * --bundle containerd: the configuration that containerd writes (bundles/containerd) instead of that of `runc spec`.
 * Runs itself in a private mount namespace, where the hugetlb hierarchy that crun needs on cgroup v1 is mounted.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { CGROUP, churn, installedRunt, machine, makeBundle, makeCgroupParents, REPOSITORY, reExecInNamespace, type Spec } from "./setup.ts";

const { values: options } = parseArgs({
  options: {
    peer: { type: "string", default: "crun" },
    rounds: { type: "string", default: "40" },
    verbs: { type: "string", default: "state,create,start,kill,delete,run,exec" },
    gate: { type: "string", default: "" },
    json: { type: "string" },
    churn: { type: "boolean", default: false },
    seccomp: { type: "string" },
    bundle: { type: "string", default: "spec" },
    inside: { type: "boolean", default: false },
  },
});

interface Side {
  readonly name: string;
  readonly letter: "a" | "b";
  readonly command: string;
  readonly root: string;
  readonly bundle: string;
  readonly sleeper: string;
}

interface Result {
  readonly verb: string;
  readonly rounds: number;
  readonly medianMs: readonly [number, number];
  readonly minimumMs: readonly [number, number];
  readonly p95Ms: readonly [number, number];
  readonly rssKib: readonly [number, number];
  readonly ratio: number;
  readonly minimumRatio: number;
}

/** Lines for pair.c: what happens around the timed command, per verb. */
const SCRIPTS: Readonly<Record<string, (side: Side) => { before?: string[]; run: string; after?: string[] }>> = {
  state: ({ command, letter }) => ({ run: `${command} state live-${letter}` }),
  exec: ({ command, letter }) => ({ run: `${command} exec live-${letter} /bin/true` }),
  run: ({ command, bundle, letter }) => ({ run: `${command} run -b ${bundle} run-${letter}-@` }),
  create: ({ command, bundle, letter }) => ({
    run: `${command} create -b ${bundle} c-${letter}-@`,
    after: [`${command} delete --force c-${letter}-@`],
  }),
  start: ({ command, bundle, letter }) => ({
    before: [`${command} create -b ${bundle} s-${letter}-@`],
    run: `${command} start s-${letter}-@`,
    after: [`${command} delete --force s-${letter}-@`],
  }),
  kill: ({ command, sleeper, letter }) => ({
    before: [`${command} run -d -b ${sleeper} k-${letter}-@`],
    run: `${command} kill k-${letter}-@ KILL`,
    after: [`${command} delete --force k-${letter}-@`],
  }),
  delete: ({ command, sleeper, letter }) => ({
    before: [`${command} run -d -b ${sleeper} d-${letter}-@`, `${command} kill d-${letter}-@ KILL`, "sleep 0.05"],
    run: `${command} delete d-${letter}-@`,
  }),
};

/** These look at a container that runs all the time. */
const LIVE: readonly string[] = ["state", "exec"];

function main(): number {
  if (!options.inside) return reExecInNamespace();
  const work = mkdtempSync(join(tmpdir(), "runt-bench-"));
  const cgroups = makeCgroupParents();
  let calm = (): void => {};
  try {
    const pair = join(work, "pair");
    execFileSync("gcc", ["-O2", "-o", pair, join(REPOSITORY, "bench/pair.c")]);
    execFileSync("sh", [join(REPOSITORY, "bundles/make-rootfs.sh"), join(work, "rootfs")]);
    const sides: readonly [Side, Side] = [
      makeSide(work, "a", "runt", installedRunt(work)),
      makeSide(work, "b", options.peer, options.peer),
    ];
    if (options.churn) calm = churn();
    const results = options.verbs.split(",").map((verb) => measure(pair, verb, sides));
    print(results, sides);
    if (options.json) writeFileSync(options.json, `${JSON.stringify({ peer: options.peer, results }, null, 2)}\n`);
    return checkGate(results);
  } finally {
    calm();
    for (const directory of cgroups) if (existsSync(directory)) rmdirSync(directory);
    rmSync(work, { recursive: true, force: true });
  }
}

function makeSide(work: string, letter: "a" | "b", name: string, binary: string): Side {
  const root = `${work}/root-${letter}`;
  const command = `${binary} --root ${root}`;
  mkdirSync(root);
  return {
    name,
    letter,
    command,
    root,
    bundle: makeBundle(work, `${letter}-true`, ["/bin/true"], `/${CGROUP}/${letter}`, filter, template()),
    sleeper: makeBundle(work, `${letter}-sleep`, ["/bin/sleep", "1000"], `/${CGROUP}/${letter}-sleep`, filter, template()),
  };
}

/** A config.json to start from; undefined: that of `runc spec`. */
function template(): string | undefined {
  return options.bundle === "spec" ? undefined : join(REPOSITORY, "bundles", options.bundle, "config.json");
}

function filter(spec: Spec): void {
  if (options.seccomp) spec.linux.seccomp = JSON.parse(readFileSync(join(REPOSITORY, "test/fixtures/seccomp-default.json"), "utf8"));
}

function measure(pair: string, verb: string, sides: readonly [Side, Side]): Result {
  const script = SCRIPTS[verb];
  if (!script) throw new Error(`unknown verb ${verb}: use ${Object.keys(SCRIPTS).join(", ")}`);
  const lines = [`rounds ${options.rounds}`];
  for (const side of sides) {
    // A pattern of find(1), because an @ is the number of the round.
    if (options.seccomp === "cold")
      lines.push(`${side.letter}.before find ${side.root} -mindepth 1 -maxdepth 1 -name ?cache -exec rm -rf {} +`);
    const { before = [], run, after = [] } = script(side);
    for (const line of before) lines.push(`${side.letter}.before ${line}`);
    lines.push(`${side.letter}.run ${run}`);
    for (const line of after) lines.push(`${side.letter}.after ${line}`);
  }
  if (LIVE.includes(verb))
    for (const side of sides) shell(`${side.command} run -d -b ${side.sleeper} live-${side.letter} </dev/null >/dev/null`);
  try {
    const output = execFileSync(pair, { input: `${lines.join("\n")}\n`, encoding: "utf8", stdio: ["pipe", "pipe", "inherit"] });
    return summarize(verb, output);
  } finally {
    for (const side of sides) {
      for (const id of readdirSync(side.root).filter((entry) => !/^[.@]/.test(entry))) {
        shell(`${side.command} delete --force ${id}`);
      }
    }
  }
}

function shell(command: string): void {
  execFileSync("sh", ["-c", command], { stdio: "inherit" });
}

function summarize(verb: string, output: string): Result {
  const rows = output
    .trim()
    .split("\n")
    .map((line) => line.split(" ").map(Number));
  const column = (index: number) => rows.map((row) => row[index] ?? Number.NaN).sort((x, y) => x - y);
  const at = (sorted: readonly number[], share: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  const [a, rssA, b, rssB] = [column(0), column(1), column(2), column(3)];
  const ms = (nanoseconds: number) => nanoseconds / 1e6;
  return {
    verb,
    rounds: rows.length,
    medianMs: [ms(at(a, 0.5)), ms(at(b, 0.5))],
    minimumMs: [ms(at(a, 0)), ms(at(b, 0))],
    p95Ms: [ms(at(a, 0.95)), ms(at(b, 0.95))],
    rssKib: [at(rssA, 0.5), at(rssB, 0.5)],
    ratio: at(a, 0.5) / at(b, 0.5),
    minimumRatio: at(a, 0) / at(b, 0),
  };
}

function print(results: readonly Result[], [a, b]: readonly [Side, Side]): void {
  const pad = (text: string) => text.padStart(13);
  const heads = ["med ms", "p95 ms", "min ms", "KiB"].flatMap((head) => [`${a.name} ${head}`, `${b.name} ${head}`]);
  console.log(
    `${machine()}; ${options.rounds} rounds${options.churn ? "; cgroup churn" : ""}; bundle ${options.bundle}${options.seccomp ? `; seccomp ${options.seccomp}` : ""}`,
  );
  console.log(["verb".padEnd(8), ...["ratio", "min ratio", ...heads].map(pad)].join(""));
  for (const { verb, medianMs, p95Ms, minimumMs, ratio, minimumRatio, rssKib } of results) {
    const times = [...medianMs, ...p95Ms, ...minimumMs].map((time) => time.toFixed(2));
    console.log([verb.padEnd(8), ...[ratio.toFixed(2), minimumRatio.toFixed(2), ...times, ...rssKib.map(String)].map(pad)].join(""));
  }
}

/** --gate state=0.75,run=0.85: non-zero when a median ratio is above its gate. */
function checkGate(results: readonly Result[]): number {
  let status = 0;
  for (const [verb = "", limit = ""] of options.gate
    .split(",")
    .filter(Boolean)
    .map((entry) => entry.split("="))) {
    const result = results.find((candidate) => candidate.verb === verb);
    if (!result || result.ratio <= Number(limit)) continue;
    console.log(`${verb}: ratio ${result.ratio.toFixed(2)} is above ${limit}`);
    status = 1;
  }
  return status;
}

process.exit(main());
