/**
 * `make test-engines`: real engines with runt as their runtime, beside runc. Needs root and Debian's packages (tools/setup.sh engines).
 *   --engines a,b   ctr, podman, podman-rootless, buildah, buildah-rootless, docker, docker-userns, swarm, cri, cri-newer
 *   --runtimes a,b  runc, runt, runt-vm (containers in machines), or paths; a base name is the runtime's name
 *   --only TEXT     scenarios whose name contains it
 *   --repeat N      run every scenario N times; one failure is enough. Without it what fails with runt is tried a second time
 *   --ratios N      instead of scenarios: N starts of a container with every runtime, interleaved; fails where runt is slower
 *   --whole         with --ratios: time all that an engine does for a container, not the start alone
 *   --timeline N    instead of scenarios: where the time of N such starts goes, by the kernel's trace of what is executed
 *   --traces DIR    with --timeline: one more start with runt's own traces within it, for Perfetto, in DIR/ENGINE.json
 *   --json FILE     with --ratios or --timeline: write them
 *   --unified       on cgroup v2, mounted for the engines alone. On a host with v1 it has no controllers, and engines are told to set no limits
 *   --write         write that part of docs/engines/results.md
 * Everything happens in mount, PID and network namespaces of its own; the outer half removes cgroups and files at the end.
 */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { release } from "node:os";
import { basename, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { hasControllers, mountHierarchies, mountUnified, removeCgroups } from "../support/hierarchies.ts";
import { outerMounts, requireOwnMounts } from "../support/own-mounts.ts";
import { program } from "../support/programs.ts";
import { brokenImages } from "./broken.ts";
import { buildah, buildahRootless } from "./buildah.ts";
import { containerd } from "./containerd.ts";
import { cri, criImages, criNewer, NEWER_CONTAINERD } from "./cri.ts";
import { CRIO_TREE, crio } from "./crio.ts";
import { docker, dockerUserns, swarm } from "./docker.ts";
import { type EngineDefinition, IMAGE, type Place } from "./engine.ts";
import { makeArchive } from "./image.ts";
import { podman, podmanRootless } from "./podman.ts";
import { measureStarts, type Ratio, ratioTable, slower } from "./ratios.ts";
import { type Row, table, writeRatios, writeScenarios } from "./report.ts";
import { type Outcome, runScenario } from "./run.ts";
import { enterSandbox } from "./sandbox.ts";
import type { Scenario } from "./scenario.ts";
import { removeTrace, traced } from "./timeline/kernel.ts";
import { measureTimelines, standIn, type Timeline, timelineTable } from "./timeline/measure.ts";

const REPOSITORY = resolve(import.meta.dirname, "../..");
const RESULTS = join(REPOSITORY, "docs/engines/results.md");
/** The name by which runt makes containers in machines (docs/vm.md). It needs `make guest-image`. */
const IN_MACHINES = "runt-vm";
/** There to compare with, not judged. */
const PEERS = ["runc", "crun"];
const ENGINES = [containerd, podman, podmanRootless, buildah, buildahRootless, docker, dockerUserns, swarm, cri, criNewer, crio];
/** Made by conmon and by rootless Podman's attempts whatever they are asked. */
const CGROUPS = ["libpod_parent", "conmon"];

const { values } = parseArgs({
  options: {
    engines: { type: "string", default: ENGINES.map(({ name }) => name).join(",") },
    runtimes: { type: "string" },
    ratios: { type: "string" },
    whole: { type: "boolean", default: false },
    timeline: { type: "string" },
    traces: { type: "string" },
    unified: { type: "boolean", default: false },
    json: { type: "string" },
    only: { type: "string", default: "" },
    repeat: { type: "string", default: "1" },
    write: { type: "boolean", default: false },
    inside: { type: "string" },
    clean: { type: "string" },
  },
});

const runtimePaths = (values.runtimes ?? ((values.ratios ?? values.timeline) === undefined ? "runc,runt" : "runt,crun,runc")).split(",");

function prepare(): string {
  // On a disk: overlay needs it, and /tmp may be a tmpfs.
  const directory = mkdtempSync("/var/tmp/runt-engines-");
  chmodSync(directory, 0o755);
  mkdirSync(join(directory, "bin"));
  const runt = join(REPOSITORY, "bin/runt");
  const known: Readonly<Record<string, string>> = { runt, [IN_MACHINES]: runt, runc: "/usr/sbin/runc", crun: "/usr/bin/crun" };
  // Copies: a build that goes on meanwhile changes nothing.
  for (const runtime of runtimePaths) {
    const [path, name] = [known[runtime] ?? resolve(runtime), basename(runtime)];
    copyFileSync(path, join(directory, "bin", name));
    chmodSync(join(directory, "bin", name), 0o755);
  }
  if (runtimePaths.includes(IN_MACHINES)) {
    cpSync(join(REPOSITORY, "build/vm/image"), imageIn(directory), { recursive: true, verbatimSymlinks: true });
  }
  if (values.timeline !== undefined) standIn(runtimePaths.map((path) => join(directory, "bin", basename(path))));
  execFileSync(join(REPOSITORY, "bundles/make-rootfs.sh"), [join(directory, "rootfs")]);
  return directory;
}

/** Where the image of `make guest-image` is, copied for the same reason. */
const imageIn = (directory: string): string => join(directory, "vm-image");

/** Of its own in every run; also a containerd namespace. */
const cgroupOf = (directory: string): string => basename(directory);

async function outer(): Promise<number> {
  if (process.geteuid?.() !== 0) throw new Error("test-engines needs root");
  const self = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  const directory = prepare();
  try {
    const namespaces = ["--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc", "--propagation", "private"];
    // Everything inside ends with this process; something has to reap what engines leave to the first process.
    const command = [
      ...["--pdeathsig", "KILL", "--"],
      // crun wants to raise it for device programs, which v2 has.
      ...(values.unified ? [program("memlock-raised")] : []),
      ...(values.timeline === undefined ? [] : traced(directory)),
      ...["unshare", ...namespaces, "--", "catatonit", "--", ...self, "--inside", directory],
    ];
    const child = spawn("setpriv", command, { stdio: "inherit", env: { ...process.env, ...outerMounts() } });
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => child.kill("SIGKILL"));
    return await new Promise<number>((done) => child.on("exit", (status) => done(status ?? 1)));
  } finally {
    spawnSync("unshare", ["--mount", "--propagation", "private", "--", ...self, "--clean", directory], {
      stdio: "inherit",
      env: { ...process.env, ...outerMounts() },
    });
    rmSync(directory, { recursive: true, force: true });
  }
}

async function inner(directory: string): Promise<number> {
  const vmConfig = runtimePaths.includes(IN_MACHINES) ? JSON.stringify({ image: imageIn(directory) }) : undefined;
  enterSandbox(directory, [NEWER_CONTAINERD, ...(CRIO_TREE === undefined ? [] : [CRIO_TREE])].filter(existsSync), values.unified, vmConfig);
  const archive = makeArchive(directory, join(directory, "rootfs"), [{ reference: IMAGE, command: ["sh"] }, ...criImages, ...brokenImages]);
  const place = { directory, archive, cgroup: cgroupOf(directory), hasControllers: hasControllers() };
  const runtimes = runtimePaths.map((runtime) => basename(runtime));
  const definitions = ENGINES.filter(({ name }) => values.engines.split(",").includes(name));
  for (const { name, missing } of definitions) if (missing !== undefined) console.log(`${name}: skipped: there is no ${missing}`);
  const present = definitions.filter(({ missing }) => missing === undefined);
  if (values.ratios !== undefined) return await ratios(place, present, runtimes, Number(values.ratios));
  if (values.timeline !== undefined) return await timelines(place, present, runtimes, Number(values.timeline));
  const rows = new Map<string, { engine: string; scenario: string; outcomes: Record<string, Row["outcomes"][string]> }>();
  for (const definition of present) {
    for (const runtime of runtimes) {
      const engine = await definition.start(place, join(directory, "bin", runtime));
      const work = join(directory, `work-${definition.name}-${runtime}`);
      mkdirSync(work, { mode: 0o777 });
      chmodSync(work, 0o777);
      const isFit = ({ name, notInMachines, only }: Scenario): boolean =>
        name.includes(values.only) && (only ?? runtime) === runtime && (runtime !== IN_MACHINES || notInMachines === undefined);
      for (const scenario of definition.scenarios.filter(isFit)) {
        const attempt = () => runScenario(engine, scenario, work);
        const told = ({ passed, milliseconds, detail }: Outcome): Outcome => {
          console.log(`${definition.name} ${runtime}: ${scenario.name}: ${passed ? "passed" : "FAILED"} (${milliseconds} ms)`);
          if (!passed) console.log(detail.replaceAll(/^/gm, "    "));
          return { passed, milliseconds, detail };
        };
        let outcome = await attempt();
        for (let count = 1; outcome.passed && count < Number(values.repeat); count++) outcome = await attempt();
        told(outcome);
        // Podman loses what a short container prints, with any runtime: on a busy host once in some hundred times.
        const hasSecondTry = !outcome.passed && values.repeat === "1" && !PEERS.includes(runtime);
        if (hasSecondTry) outcome = told(await attempt());
        const key = `${definition.name} ${scenario.name}`;
        const row = rows.get(key) ?? { engine: definition.name, scenario: scenario.name, outcomes: {} };
        row.outcomes[runtime] = outcome;
        rows.set(key, row);
      }
      await engine.stop();
    }
  }
  const text = table([...rows.values()], runtimes);
  console.log(`\n${text}`);
  if (values.write) writeScenarios(RESULTS, `${heading(runtimes)}\n${text}`);
  // The peers are there to compare with.
  const judged = runtimes.filter((name) => !PEERS.includes(name));
  const failed = [...rows.values()].filter(({ outcomes }) => judged.some((runtime) => outcomes[runtime]?.passed === false));
  const skipped = definitions.length - present.length;
  console.log(
    `${rows.size - failed.length} passed, ${failed.length} failed (${judged.join(", ")})${skipped > 0 ? `, ${skipped} engines skipped` : ""}`,
  );
  return failed.length === 0 ? 0 : 1;
}

async function ratios(
  place: Place,
  definitions: readonly EngineDefinition[],
  runtimes: readonly string[],
  rounds: number,
): Promise<number> {
  const judged = runtimes.find((name) => !PEERS.includes(name)) ?? "runt";
  const peers = runtimes.filter((name) => name !== judged);
  const rows: Ratio[] = [];
  const timed = values.whole ? "timedWhole" : "timedStart";
  for (const definition of definitions) {
    if ((values.whole ? definition.whole : definition.timed) === undefined) continue;
    rows.push(await measureStarts(place, definition, runtimes, peers, rounds, timed));
    console.log(ratioTable(rows.slice(-1), judged, peers));
  }
  const text = ratioTable(rows, judged, peers);
  console.log(text);
  if (values.write) writeRatios(RESULTS, text);
  if (values.json !== undefined) writeFileSync(values.json, JSON.stringify(rows));
  const wrong = slower(rows, judged);
  for (const line of wrong) console.log(line);
  return wrong.length === 0 ? 0 : 1;
}

async function timelines(
  place: Place,
  definitions: readonly EngineDefinition[],
  runtimes: readonly string[],
  rounds: number,
): Promise<number> {
  const paths = runtimes.map((name) => join(place.directory, "bin", name));
  const found: Timeline[] = [];
  for (const definition of definitions) {
    if (definition.whole === undefined) continue;
    const trace = values.traces === undefined ? undefined : join(resolve(values.traces), `${definition.name}.json`);
    found.push(...(await measureTimelines(place, { ...definition, whole: definition.whole }, paths, rounds, trace)));
  }
  console.log(timelineTable(found));
  if (values.json !== undefined) writeFileSync(values.json, JSON.stringify(found));
  return 0;
}

function heading(runtimes: readonly string[]): string {
  const versions = [
    ["containerd", "--version"],
    ...(criNewer.missing === undefined ? [[join(NEWER_CONTAINERD, "containerd"), "--version"]] : []),
    ["podman", "--version"],
    ["conmon", "--version"],
    ["buildah", "--version"],
    ["dockerd", "--version"],
    ...PEERS.map((peer) => [peer, "--version"]),
  ]
    .filter(([name = ""]) => !PEERS.includes(name) || runtimes.includes(name))
    .map(([name = "", ...args]) => execFileSync(name, args, { encoding: "utf8" }).split("\n")[0]);
  return `# Results of the scenarios with engines

This page lists scenarios of container engines, and whether they passed with runc and with runt. Written by
\`make test-engines ENGINES=--write\`; the scenarios are in \`test/engines/scenarios\` and \`test/engines/broken.ts\`.

${[...versions, `Linux ${release()}`].map((line) => `- ${line}`).join("\n")}

The "broken image" scenarios expect error messages that only runt promises. runc refuses capabilities that the host does
not have (\`--privileged\`). It has no \`--cgroup-manager disabled\`. Before version 1.2 it has no idmapped mounts, which
containerd 2 (\`cri-newer\`) needs for pods with a user namespace.
`;
}

/** By the host's view of the cgroups and the hierarchy that it may lack. */
function clean(directory: string): number {
  if (values.timeline !== undefined) removeTrace(directory);
  if (values.unified) mountUnified();
  else mountHierarchies(directory);
  const left = removeCgroups([cgroupOf(directory), ...CGROUPS]);
  if (left.length > 0) console.error(`left: ${left.join(" ")}`);
  return 0;
}

if (values.clean !== undefined || values.inside !== undefined) requireOwnMounts();
if (values.clean !== undefined) process.exit(clean(values.clean));
process.exit(values.inside === undefined ? await outer() : await inner(values.inside));
