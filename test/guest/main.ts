/**
 * `make test-guest`: lanes of tests in a machine of their own, with systemd as first process and cgroup v2, then once more with cgroup v1. QEMU
 * emulates the machine in software, so nothing but the packages of tools/setup.sh guest is needed. Needs root for making the image.
 *   --modes v2,v1   which guests
 *   --kernel SUITE  with the newest kernel of this suite of Debian (default: bookworm); of another one on v2 only, for newer kernels have no memory
 *                   controller of v1, and with its results in build/guest/results-SUITE
 *   --lanes a,b     which lanes (test/guest/lanes.ts)
 *   --long          the long lanes too
 *   --run COMMAND   this shell command instead of the lanes; its output is shown
 *   --write         put the counts of system calls into docs/performance.md
 *   --out DIR       where console, reports and logs of the lanes go, by machine (default: build/guest/results)
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { program, REPOSITORY, sharedRootfs } from "../support/programs.ts";
import { add, type Counts, countLane } from "./counts.ts";
import { chosen, LANES, type Machine, MODES, type Mode, machinesOf, SYSTEM_CALLS } from "./lanes.ts";
import { type Boot, boot } from "./machine.ts";
import { makePackages } from "./packages.ts";
import { makePayload } from "./payload.ts";
import { writeSystemCalls } from "./performance.ts";
import { bootUntilEnd } from "./power/cut.ts";

const IMAGE = join(REPOSITORY, "build/guest");
const USUAL_KERNEL = "bookworm";
/** For all of a machine's lanes: several times what they need. */
const MACHINE_SECONDS = 7200;
const RUN_SILENCE = 600;
const TAIL_LINES = 60;

const { values } = parseArgs({
  options: {
    modes: { type: "string" },
    kernel: { type: "string", default: USUAL_KERNEL },
    lanes: { type: "string" },
    long: { type: "boolean", default: false },
    run: { type: "string" },
    write: { type: "boolean", default: false },
    out: { type: "string" },
  },
});

function tell(text: string): void {
  console.log(`[${((Date.now() - began) / 1000).toFixed(0).padStart(4)} s] ${text}`);
}

function machines(mode: Mode): Machine[] {
  const all = values.run === undefined ? lanes : [{ name: "run", modes: MODES, silence: RUN_SILENCE, command: values.run }];
  return machinesOf(mode, all, values.long);
}

async function test({ name: machine, mode, lanes: own, cuts }: Machine, payload: string): Promise<Counts> {
  const directory = join(out, machine);
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  const tail: string[] = [];
  const options: Boot = {
    mode,
    lanes: machine,
    root: join(IMAGE, values.kernel, "root.img"),
    kernel: join(IMAGE, values.kernel, "vmlinuz"),
    payload,
    directory,
    limitSeconds: MACHINE_SECONDS,
    line: (text) => {
      tail.push(text);
      if (tail.length > TAIL_LINES) tail.shift();
      if (text.startsWith("guest: ")) tell(`${machine} ${text}`);
    },
  };
  const booted = await (cuts === 0 ? boot(options) : bootUntilEnd(options, cuts));
  unpack(booted.results, directory);
  const ended = existsSync(join(directory, "rc"));
  if (!ended) {
    tell(`${machine} guest ${booted.timedOut ? "was over its time limit" : `ended early (QEMU: ${booted.status})`}; its last lines:`);
    console.log(tail.join("\n"));
  }
  let total: Counts = { passed: 0, failed: ended ? 0 : 1, skipped: 0 };
  for (const { name } of own) {
    const status = read(join(directory, `${name}.rc`));
    if (values.run !== undefined) {
      console.log(read(join(directory, `${name}.log`)) ?? "");
      return { passed: Number(status === "0\n"), failed: Number(status !== "0\n"), skipped: 0 };
    }
    const counts = countLane(read(join(directory, `${name}.json`)), status === undefined ? undefined : Number(status));
    tell(`${machine} ${name}: ${words(counts)}`);
    if (counts.failed > 0) console.log(complaint(directory, name));
    total = add(total, counts);
  }
  return total;
}

function unpack(disk: string, directory: string): void {
  try {
    execFileSync("tar", ["-xf", disk, "-C", directory], { stdio: ["ignore", "ignore", "pipe"] });
  } catch {
    tell(`${disk} holds no results`);
  } finally {
    rmSync(disk);
  }
}

function read(file: string): string | undefined {
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
}

/** Why a lane has failed, as far as its files tell. */
function complaint(directory: string, name: string): string {
  const hang = read(join(directory, `${name}.hang`));
  const log = read(join(directory, `${name}.log`)) ?? "";
  const last = log.split("\n").slice(-TAIL_LINES).join("\n");
  return `${last}\n${hang === undefined ? "" : `when its time was over:\n${hang}\n`}all of it: ${directory}/${name}.log`;
}

function words({ passed, failed, skipped }: Counts): string {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}

const began = Date.now();
const isUsual = values.kernel === USUAL_KERNEL;
const out = resolve(values.out ?? join(IMAGE, isUsual ? "results" : `results-${values.kernel}`));
mkdirSync(out, { recursive: true });
const modes = chosen(MODES, values.modes ?? (isUsual ? undefined : "v2"), String);
const lanes = chosen(LANES, values.lanes, ({ name }) => name).filter(({ long }) => !long || values.long || values.lanes !== undefined);
execFileSync(join(import.meta.dirname, "image/build.sh"), [IMAGE, values.kernel], { stdio: "inherit" });
sharedRootfs();
for (const source of readdirSync(join(REPOSITORY, "test/probe"))) program(source.replace(/\.c$/, ""));
const all = modes.map((mode) => [mode, machines(mode)] as const);
const inEach = all.flatMap(([, those]) => those);
const packages = inEach.some((one) => one.lanes.some(({ needsPackages }) => needsPackages)) ? makePackages(REPOSITORY, out) : [];
const payload = makePayload(REPOSITORY, out, Object.fromEntries(inEach.map((one) => [one.name, one.lanes])), packages);
tell("disks are ready");
// At the same time: each is busy with one processor most of the time.
const totals = await Promise.all(
  all.map(async ([mode, those]) => {
    let total: Counts = { passed: 0, failed: 0, skipped: 0 };
    for (const one of those) total = add(total, await test(one, payload));
    return [mode, total] as const;
  }),
);
rmSync(payload);
if (values.write) {
  const directory = join(out, "v2");
  const report = read(join(directory, `${SYSTEM_CALLS}.json`));
  if (report === undefined) throw new Error(`--write: no ${SYSTEM_CALLS}.json in ${directory}`);
  writeSystemCalls(join(REPOSITORY, "docs/performance.md"), report, read(join(directory, "machine"))?.trim() ?? "");
}
for (const [mode, counts] of totals) console.log(`guest ${mode}: ${words(counts)}`);
process.exitCode = totals.every(([, { passed, failed }]) => passed > 0 && failed === 0) ? 0 : 1;
