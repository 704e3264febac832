/**
 * `make test-engines`: real engines with runt as their runtime, beside runc. Needs root and Debian's packages (tools/setup.sh engines).
 *   --engines a,b   ctr, podman, podman-rootless
 *   --runtimes a,b  runc, runt, or paths; a base name is the runtime's name
 *   --only TEXT     scenarios whose name contains it
 *   --repeat N      run every scenario N times; one failure is enough
 *   --write         write docs/engines/results.md
 * Everything happens in mount, PID and network namespaces of its own; the outer half removes cgroups and files at the end.
 */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { release } from "node:os";
import { basename, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { brokenImages } from "./broken.ts";
import { containerd } from "./containerd.ts";
import { IMAGE } from "./engine.ts";
import { makeArchive } from "./image.ts";
import { podman, podmanRootless } from "./podman.ts";
import { type Row, table } from "./report.ts";
import { runScenario } from "./run.ts";
import { enterSandbox, mountHierarchies, removeCgroups } from "./sandbox.ts";

const REPOSITORY = resolve(import.meta.dirname, "../..");
/** There to compare with, not judged. */
const PEERS = ["runc", "crun"];
const ENGINES = [containerd, podman, podmanRootless];
/** Also a containerd namespace; engines name the cgroups after it. */
const CGROUP = "runt-engines";
/** Made by conmon and by rootless Podman's attempts whatever they are asked. */
const CGROUPS = [CGROUP, "libpod_parent", "conmon"];

const { values } = parseArgs({
  options: {
    engines: { type: "string", default: ENGINES.map(({ name }) => name).join(",") },
    runtimes: { type: "string", default: "runc,runt" },
    only: { type: "string", default: "" },
    repeat: { type: "string", default: "1" },
    write: { type: "boolean", default: false },
    inside: { type: "string" },
    clean: { type: "string" },
  },
});

function prepare(): string {
  // On a disk: overlay needs it, and /tmp may be a tmpfs.
  const directory = mkdtempSync("/var/tmp/runt-engines-");
  chmodSync(directory, 0o755);
  mkdirSync(join(directory, "bin"));
  const known: Readonly<Record<string, string>> = { runt: join(REPOSITORY, "bin/runt"), runc: "/usr/sbin/runc", crun: "/usr/bin/crun" };
  // Copies: a build that goes on meanwhile changes nothing.
  for (const runtime of values.runtimes.split(",")) {
    const path = known[runtime] ?? resolve(runtime);
    copyFileSync(path, join(directory, "bin", basename(path)));
    chmodSync(join(directory, "bin", basename(path)), 0o755);
  }
  execFileSync(join(REPOSITORY, "bundles/make-rootfs.sh"), [join(directory, "rootfs")]);
  return directory;
}

async function outer(): Promise<number> {
  if (process.geteuid?.() !== 0) throw new Error("test-engines needs root");
  const self = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  const directory = prepare();
  try {
    const namespaces = ["--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc", "--propagation", "private"];
    // Everything inside ends with this process; something has to reap what engines leave to the first process.
    const command = ["--pdeathsig", "KILL", "--", "unshare", ...namespaces, "--", "catatonit", "--", ...self, "--inside", directory];
    const child = spawn("setpriv", command, { stdio: "inherit" });
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => child.kill("SIGKILL"));
    return await new Promise<number>((done) => child.on("exit", (status) => done(status ?? 1)));
  } finally {
    spawnSync("unshare", ["--mount", "--propagation", "private", "--", ...self, "--clean", directory], { stdio: "inherit" });
    rmSync(directory, { recursive: true, force: true });
  }
}

async function inner(directory: string): Promise<number> {
  enterSandbox(directory);
  const archive = makeArchive(directory, join(directory, "rootfs"), [{ reference: IMAGE, command: ["sh"] }, ...brokenImages]);
  const place = { directory, archive, cgroup: CGROUP };
  const runtimes = values.runtimes.split(",").map((runtime) => basename(runtime));
  const rows = new Map<string, { engine: string; scenario: string; outcomes: Record<string, Row["outcomes"][string]> }>();
  for (const definition of ENGINES.filter(({ name }) => values.engines.split(",").includes(name))) {
    for (const runtime of runtimes) {
      const engine = await definition.start(place, join(directory, "bin", runtime));
      const work = join(directory, `work-${definition.name}-${runtime}`);
      mkdirSync(work, { mode: 0o777 });
      chmodSync(work, 0o777);
      for (const scenario of definition.scenarios.filter(({ name, only }) => name.includes(values.only) && (only ?? runtime) === runtime)) {
        let outcome = await runScenario(engine, scenario, work);
        for (let count = 1; outcome.passed && count < Number(values.repeat); count++) outcome = await runScenario(engine, scenario, work);
        console.log(
          `${definition.name} ${runtime}: ${scenario.name}: ${outcome.passed ? "passed" : "FAILED"} (${outcome.milliseconds} ms)`,
        );
        if (!outcome.passed) console.log(outcome.detail.replaceAll(/^/gm, "    "));
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
  if (values.write) writeFileSync(join(REPOSITORY, "docs/engines/results.md"), `${heading(runtimes)}\n${text}`);
  // The peers are there to compare with.
  const judged = runtimes.filter((name) => !PEERS.includes(name));
  const failed = [...rows.values()].filter(({ outcomes }) => judged.some((runtime) => outcomes[runtime]?.passed === false));
  console.log(`${rows.size - failed.length} passed, ${failed.length} failed (${judged.join(", ")})`);
  return failed.length === 0 ? 0 : 1;
}

function heading(runtimes: readonly string[]): string {
  const versions = [
    ["containerd", "--version"],
    ["podman", "--version"],
    ["conmon", "--version"],
    ...PEERS.map((peer) => [peer, "--version"]),
  ]
    .filter(([name = ""]) => !PEERS.includes(name) || runtimes.includes(name))
    .map(([name = "", ...args]) => execFileSync(name, args, { encoding: "utf8" }).split("\n")[0]);
  return `# What engines were seen to do

Written by \`make test-engines ENGINES=--write\`; the scenarios are in \`test/engines/scenarios\` and \`test/engines/broken.ts\`.
${[...versions, `Linux ${release()}`].map((line) => `- ${line}`).join("\n")}

"broken image" scenarios ask for words that only runt has promised. runc has no \`--cgroup-manager disabled\`.
`;
}

/** By the host's view of the cgroups and the hierarchy that it may lack. */
function clean(directory: string): number {
  mountHierarchies(directory);
  const left = removeCgroups(CGROUPS);
  if (left.length > 0) console.error(`left: ${left.join(" ")}`);
  return 0;
}

if (values.clean !== undefined) process.exit(clean(values.clean));
process.exit(values.inside === undefined ? await outer() : await inner(values.inside));
