/**
 * `make bench`: runt against its peers, in turns, in surroundings of its own. Needs root; make builds what it runs.
 *   --only a,b       scenarios by name, and: verbs, runs, many (their groups), together, crowd, floor, sizes, instructions, engines;
 *                    without it all but instructions, which takes minutes
 *   --peer a,b       crun, runc, or the path of another runtime, an older runt for one (crun,runc)
 *   --rounds N       of each scenario (40; half as many where the peer is not the first, and under --churn)
 *   --churn          only the verbs, while cgroups are made, entered and removed in the background; without --only that is done, too
 *   --unified        on cgroup v2, mounted over /sys/fs/cgroup for the benchmark alone (make bench-v2). On a host with v1 it has no controllers:
 *                    bundles then set no limits, and what measures them is left out
 *   --tree DIR       in this root file system, with its crun and runc (make bench-sid)
 *   --realtime       everything that is timed at real-time priority (SCHED_FIFO), for a machine that others use: what waits for a processor
 *                    there says nothing of a runtime
 *   --reread         runt's pages are read anew, as after a boot, instead of being those that its installation wrote
 *   --json FILE      write the reports
 *   --write          into docs/performance.md, for cgroup v1 into docs/performance/v1.md, and docs/performance/*.svg
 *   --from FILE      measure nothing: take the reports of such a file
 *   --gate           print the targets against the first peer, and whether they hold; --strict: fail if one does not
 *   --list           print the names and end
 * Ratios count: the times are those of one machine.
 */
import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { hasControllers } from "../test/support/hierarchies.ts";
import { prepareRootfs } from "./bundles.ts";
import { churn } from "./churn.ts";
import { measureEngines } from "./engines.ts";
import { measureFloor } from "./floor.ts";
import { machine } from "./machine.ts";
import { crowdOf, startTogether } from "./many.ts";
import { measure, type Outcome } from "./measure.ts";
import { inNamespace, makeCgroupParents, prepareHierarchies, REPOSITORY, removeCgroupParents } from "./namespace.ts";
import { countsTable, crowdTable, enginesTable, floorTable, origin, type Report, sizesTable, type Timed, timesTable } from "./report.ts";
import { SCENARIOS, type Scenario } from "./scenarios.ts";
import { type Place, Side } from "./side.ts";
import { type Counts, measureInstructions, measureSizes } from "./sizes.ts";
import { judge } from "./targets.ts";
import { writePage } from "./write.ts";

const PARTS = ["together", "crowd", "floor", "sizes", "instructions", "engines"];
const GROUPS: Readonly<Record<string, Scenario["group"]>> = { verbs: "verbs", runs: "run", many: "many" };
const TOGETHER_ROUNDS = 5;

const { values: options } = parseArgs({
  options: {
    only: { type: "string" },
    peer: { type: "string", default: "crun,runc" },
    rounds: { type: "string", default: "40" },
    churn: { type: "boolean", default: false },
    unified: { type: "boolean", default: false },
    tree: { type: "string" },
    realtime: { type: "boolean", default: false },
    reread: { type: "boolean", default: false },
    json: { type: "string" },
    from: { type: "string" },
    write: { type: "boolean", default: false },
    gate: { type: "boolean", default: false },
    strict: { type: "boolean", default: false },
    list: { type: "boolean", default: false },
    inside: { type: "string" },
    clean: { type: "string" },
  },
});

const wanted = options.only?.split(",");
const wants = (part: string) => (wanted ? wanted.includes(part) : part !== "instructions");
const wantsScenario = ({ name, group }: Scenario) => wanted === undefined || wanted.some((word) => word === name || GROUPS[word] === group);

async function outer(): Promise<number> {
  for (const word of wanted ?? [])
    if (!PARTS.includes(word) && !(word in GROUPS) && !SCENARIOS.some(({ name }) => name === word))
      throw new Error(`there is no ${word}: --list prints the names`);
  if (process.geteuid?.() !== 0) throw new Error("the benchmarks need root");
  const work = mkdtempSync(join(tmpdir(), "runt-bench-"));
  // A user namespace's root has to get to the root file system.
  chmodSync(work, 0o711);
  try {
    execFileSync("sh", [join(REPOSITORY, "bundles/make-rootfs.sh"), join(work, "rootfs")]);
    prepareRootfs(work);
    mkdirSync(join(work, "state"));
    install(process.env["RUNT"] ?? join(REPOSITORY, "bin/runt"), join(work, "runt"));
    const tree = options.tree === undefined ? undefined : { path: resolve(options.tree), work };
    const status = await inNamespace(["--inside", work], tree, options.realtime);
    const left = await inNamespace(["--clean", work]);
    // The inner process may have another root file system (--tree) and cannot write here.
    const missed = existsSync(reportsOf(work)) ? conclude(JSON.parse(readFileSync(reportsOf(work), "utf8"))) : 1;
    return status || left || missed;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** A copy, as an installation leaves it. */
function install(file: string, target: string): void {
  copyFileSync(file, target);
  chmodSync(target, 0o755);
  if (!options.reread) return;
  execFileSync("sync", [target]);
  execFileSync("dd", [`if=${target}`, "iflag=nocache", "count=0", "status=none"]);
}

async function inner(work: string): Promise<number> {
  prepareHierarchies(work, options.unified);
  const place: Place = { work, cgroup: basename(work), hasControllers: hasControllers() };
  makeCgroupParents(place.cgroup);
  // A tmpfs, as /run is, where runtimes keep their state.
  execFileSync("mount", ["-t", "tmpfs", "-o", "mode=711", "tmpfs", join(work, "state")]);
  const own = new Side(place, "a", "runt", join(work, "runt"));
  const peers = options.peer
    .split(",")
    .map((peer, index) => new Side(place, "bcdefg"[index] ?? "h", basename(peer) === "runt" ? "other runt" : basename(peer), peer));
  const reports: Report[] = [];
  let instructions: Counts | undefined;
  const base = (peer: Side, busy: boolean) => ({
    section: [
      peer.name,
      ...(busy ? ["churn"] : []),
      ...(options.unified ? ["v2"] : []),
      ...(options.tree === undefined ? [] : [basename(options.tree)]),
    ].join("-"),
    peer: peer.name,
    ...(options.tree !== undefined && { tree: basename(options.tree) }),
    ...(options.unified && { unified: true }),
    versions: [own.version(), peer.version()],
    machine: machine(own.binary),
    churn: busy,
    reread: options.reread,
    realtime: options.realtime,
  });
  const [first] = peers;
  if (first === undefined) throw new Error("--peer names none");

  if (!options.churn) {
    for (const peer of peers) {
      const rounds = Math.ceil(Number(options.rounds) / (peer === first ? 1 : 2));
      const about = { ...base(peer, false), rounds };
      const timed = timeAll([own, peer], SCENARIOS.filter(wantsScenario), rounds);
      if (wants("together"))
        timed.push({
          name: "together",
          title: "100 containers started by 8 workers",
          outcome: startTogether([own, peer], TOGETHER_ROUNDS),
        });
      reports.push({ ...about, timed });
      if (timed.length > 0) console.log(`\n${origin(reports.at(-1)!)}\n\n${timesTable(reports.at(-1)!)}`);
    }
    const sides = [own, ...peers];
    // The floor has no peer, so it is the same in every tree.
    const floor = wants("floor") && (options.tree === undefined || wanted) ? measureFloor(own, Number(options.rounds)) : undefined;
    const more = {
      ...(floor && { floor }),
      ...(wants("crowd") && { crowds: sides.map(crowdOf) }),
      ...(wants("sizes") && { sizes: await measureSizes(sides) }),
    };
    reports[0] = { ...reports[0]!, ...more, furtherVersions: peers.slice(1).map((peer) => peer.version()) };
    if (more.floor) console.log(`\n${floorTable(more.floor)}`);
    if (more.crowds) console.log(`\n${crowdTable(more.crowds)}`);
    if (more.sizes) console.log(`\n${sizesTable(more.sizes)}\n\n${countsTable("system calls", more.sizes.calls)}`);
    if (wants("instructions")) {
      instructions = await measureInstructions(sides.slice(0, 2));
      console.log(`\n${countsTable("instructions", instructions)}`);
    }
  }
  if (options.churn || wanted === undefined) {
    const rounds = Math.ceil(Number(options.rounds) / 2);
    const calm = churn(place.cgroup, options.realtime);
    try {
      const timed = timeAll(
        [own, first],
        SCENARIOS.filter((scenario) => scenario.group === "verbs" && wantsScenario(scenario)),
        rounds,
      );
      reports.push({ ...base(first, true), rounds, timed });
    } finally {
      calm();
    }
    console.log(`\n${origin(reports.at(-1)!)}\n\n${timesTable(reports.at(-1)!)}`);
  }
  // Engines run in namespaces of their own. A tree has none, and their daemons would keep the processors.
  if (wants("engines") && options.tree === undefined && !options.churn && !options.realtime) {
    const engines = measureEngines(Math.ceil(Number(options.rounds) / 2), options.unified);
    if (engines) reports[0] = { ...reports[0]!, engines };
    if (engines) console.log(`\n${enginesTable(engines)}`);
  }
  writeFileSync(reportsOf(work), JSON.stringify({ reports, instructions }));
  return 0;
}

interface Measured {
  readonly reports: readonly Report[];
  readonly instructions?: Counts;
}

const reportsOf = (work: string): string => join(work, "reports.json");

/** Write the reports and check the targets, as the options ask. Returns the exit status. */
function conclude({ reports, instructions }: Measured): number {
  if (options.json) writeFileSync(options.json, `${JSON.stringify({ reports, instructions }, null, 1)}\n`);
  if (options.write) for (const report of reports) writePage(report, report === reports[0] ? instructions : undefined);
  return options.gate || options.strict ? gate(reports.filter(({ peer }) => peer === reports[0]?.peer)) : 0;
}

function timeAll(sides: readonly [Side, Side], scenarios: readonly Scenario[], rounds: number): Timed[] {
  return scenarios.map((scenario) => {
    const { name, title } = scenario;
    const outcome = attempt(() => measure(scenario, sides, rounds));
    const said = "missing" in outcome ? outcome.missing : `${outcome.ratio.toFixed(2)} (of minimums ${outcome.minimumRatio.toFixed(2)})`;
    console.log(`${sides[1].name}: ${name}: ${said}`);
    return { name, title, outcome };
  });
}

/** A scenario that throws does not stop the others; the exit status is 1 then. */
function attempt(body: () => Outcome): Outcome {
  try {
    return body();
  } catch (error) {
    console.error(error);
    process.exitCode = 1;
    return { missing: "failed" };
  }
}

function gate(reports: readonly Report[]): number {
  const verdicts = reports.flatMap((report) => judge(report).map((verdict) => ({ ...verdict, churn: report.churn })));
  console.log("");
  for (const { target, holds, seen, churn: busy } of verdicts)
    console.log(`${holds ? "holds" : "MISS "}  ${target}: ${seen}${busy ? " (churn)" : ""}`);
  const missed = verdicts.filter(({ holds }) => !holds).length;
  console.log(`${verdicts.length - missed} hold, ${missed} missed`);
  return options.strict && missed > 0 ? 1 : 0;
}

/** Runs in a process of its own, so that it also cleans up after one that was killed. */
async function clean(work: string): Promise<number> {
  prepareHierarchies(work, options.unified);
  const left = await removeCgroupParents(basename(work));
  if (left.length > 0) console.error(`left: ${left.join(" ")}`);
  return left.length === 0 ? 0 : 1;
}

if (options.list) {
  for (const { name, title } of SCENARIOS) console.log(`${name}: ${title.replaceAll("`", "")}`);
  console.log([...Object.keys(GROUPS), ...PARTS].join(" "));
} else if (options.from !== undefined) {
  process.exitCode = conclude(JSON.parse(readFileSync(options.from, "utf8")));
} else if (options.clean !== undefined) process.exitCode = await clean(options.clean);
else if (options.inside === undefined) process.exitCode = await outer();
else process.exitCode = (await inner(options.inside)) || process.exitCode;
