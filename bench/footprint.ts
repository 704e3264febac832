/**
 * Sizes instead of times: system calls of one `run`, resident memory while a foreground `run` waits, and the smallest
 * memory limit under which a container starts five times out of five (cgroup v1 or v2).
 *
 *   npx tsx bench/footprint.ts
 */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { CGROUP, installedRunt, makeBundle, makeCgroupParents, REPOSITORY, reExecInNamespace } from "./setup.ts";

const LIMITS_KIB = [128, 192, 256, 384, 512, 1024, 2048, 4096, 8192, 16_384];
const ATTEMPTS = 5;

async function main(): Promise<number> {
  if (!process.argv.includes("--inside")) return reExecInNamespace();
  const work = mkdtempSync(join(tmpdir(), "runt-bench-"));
  const cgroups = makeCgroupParents();
  try {
    execFileSync("sh", [join(REPOSITORY, "bundles/make-rootfs.sh"), join(work, "rootfs")]);
    console.log(
      ["", "system calls of run", "RSS while waiting, KiB", "smallest limit, KiB"]
        .map((cell, index) => cell.padEnd(index === 0 ? 8 : 26))
        .join(""),
    );
    for (const [name, binary] of [
      ["runt", installedRunt(work)],
      ["crun", "crun"],
      ["runc", "runc"],
    ] as const) {
      const command = [binary, "--root", join(work, `root-${name}`)];
      const cells = [
        name.padEnd(8),
        systemCalls(work, name, command),
        await waitingRss(work, name, command),
        smallestLimit(work, name, command),
      ];
      console.log(cells.map((cell, index) => (index === 0 ? cell : String(cell).padEnd(26))).join(""));
    }
    return 0;
  } finally {
    for (const directory of cgroups) if (existsSync(directory)) rmdirSync(directory);
    rmSync(work, { recursive: true, force: true });
  }
}

/** Lines of `strace -f -o`, minus those that only finish an interrupted one and the notes on signals and exits. */
function systemCalls(work: string, name: string, command: readonly string[]): number {
  const bundle = makeBundle(work, `${name}-calls`, ["/bin/true"], `/${CGROUP}/${name}-calls`);
  const trace = join(work, `${name}.trace`);
  execFileSync("strace", ["-f", "-o", trace, ...command, "run", "-b", bundle, "calls"], { stdio: ["ignore", "ignore", "inherit"] });
  return readFileSync(trace, "utf8")
    .split("\n")
    .filter((line) => line !== "" && !/^\d+ +(<\.\.\.|---|\+\+\+)/.test(line)).length;
}

async function waitingRss(work: string, name: string, command: readonly string[]): Promise<number> {
  const bundle = makeBundle(work, `${name}-wait`, ["/bin/sleep", "100"], `/${CGROUP}/${name}-wait`);
  const [file = "", ...args] = command;
  const child = spawn(file, [...args, "run", "-b", bundle, "wait"], { stdio: "ignore" });
  const ended = new Promise((resolve) => child.on("exit", resolve));
  await sleep(500);
  const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
  execFileSync(file, [...args, "kill", "wait", "KILL"]);
  await ended;
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]);
}

function smallestLimit(work: string, name: string, command: readonly string[]): string {
  const [file = "", ...args] = command;
  for (const limit of LIMITS_KIB) {
    const bundle = makeBundle(work, `${name}-${limit}`, ["/bin/true"], `/${CGROUP}/${name}-limit`, (spec) => {
      spec.linux.resources = { ...spec.linux.resources, memory: { limit: limit * 1024 } };
    });
    let passed = 0;
    while (passed < ATTEMPTS && spawnSync(file, [...args, "run", "-b", bundle, "limit"], { stdio: "ignore" }).status === 0) passed++;
    spawnSync(file, [...args, "delete", "--force", "limit"], { stdio: "ignore" });
    if (passed === ATTEMPTS) return String(limit);
  }
  return "none";
}

main().then((status) => process.exit(status));
