/**
 * A group of ten containers up and down, beside `podman kube play`, as root:
 *
 *   tsx bench/engine-group.ts [--rounds N] [--cold N] [--tree DIR]
 *
 * One pod (bench/group-pod.ts), the same archive of one image, a bridge, a file for each log. Up is until the last container has made a file, as seen from inside;
 * down until the command has ended, which is when nothing is left. Cold is with the image: it is taken from the archive first. The sides take turns, and who
 * begins changes with each round. All of it is in a mount and a network namespace of its own.
 *   --tree DIR   podman of this root file system (tools/debian-tree.sh)
 */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, watch } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { makeArchive } from "../test/engines/image.ts";
import { BenchDaemon } from "./engine-daemon.ts";
import { MARKS } from "./group-pod.ts";
import { engineSide, type GroupSide, podmanSide, prepareTree } from "./group-sides.ts";
import { describe, machine } from "./machine.ts";
import { median } from "./stats.ts";

const REFERENCE = "localhost/bench:1";
const LONGEST_MS = 120_000;

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "10" },
    cold: { type: "string", default: "3" },
    tree: { type: "string" },
    inside: { type: "boolean", default: false },
  },
});

if (!values.inside) {
  const self = [process.execPath, ...process.execArgv, ...process.argv.slice(1), "--inside"];
  process.exit(spawnSync("unshare", ["--net", "--mount", "--propagation", "private", "--", ...self], { stdio: "inherit" }).status ?? 1);
}

interface Times {
  readonly up: number;
  readonly down: number;
}

/** Empty, and then with a file for each container that has begun. */
class Shared {
  constructor(readonly directory: string) {
    mkdirSync(directory);
  }

  empty(): void {
    for (const name of readdirSync(this.directory)) rmSync(join(this.directory, name));
  }

  filled(): Promise<void> {
    return new Promise((done, failed) => {
      const timer = setTimeout(() => end(() => failed(new Error(`only ${readdirSync(this.directory).join(", ")} have begun`))), LONGEST_MS);
      const end = (then: () => void) => {
        clearTimeout(timer);
        watcher.close();
        then();
      };
      const look = () => {
        if (MARKS.every((name) => existsSync(join(this.directory, name)))) end(done);
      };
      const watcher = watch(this.directory, look);
      look();
    });
  }
}

async function round(side: GroupSide, shared: Shared, isCold: boolean): Promise<Times> {
  shared.empty();
  const filled = shared.filled();
  const begun = performance.now();
  if (isCold) await side.pull();
  const commanded = side.up();
  await Promise.race([filled, commanded.then(() => filled)]);
  const up = performance.now() - begun;
  await commanded;
  const stopping = performance.now();
  await side.down();
  const down = performance.now() - stopping;
  if (isCold) await side.forget();
  return { up, down };
}

/** `run --rm` of one container that ends at once. */
async function compareOne(count: number, sides: readonly [GroupSide, GroupSide]): Promise<void> {
  const found: [number[], number[]] = [[], []];
  for (let at = 0; at < count; at++) {
    for (const index of at % 2 === 0 ? [0, 1] : [1, 0]) {
      const begun = performance.now();
      await sides[index]!.one();
      found[index]!.push(performance.now() - begun);
    }
  }
  row(`one container, \`run --rm\`, ${count} rounds`, found, "<= 1");
}

function row(what: string, [own, peer]: readonly [readonly number[], readonly number[]], target: string): void {
  const ms = (samples: readonly number[]) => `${median(samples).toFixed(0)} (${Math.min(...samples).toFixed(0)})`;
  const ratios = own.map((value, at) => value / peer[at]!);
  console.log(`| ${what} | ${ms(own)} | ${ms(peer)} | ${median(ratios).toFixed(2)} | ${target} |`);
}

async function compare(
  what: string,
  count: number,
  sides: readonly [GroupSide, GroupSide],
  shared: Shared,
  isCold: boolean,
): Promise<void> {
  const found: [Times[], Times[]] = [[], []];
  for (let at = 0; at < count; at++)
    for (const index of at % 2 === 0 ? [0, 1] : [1, 0]) found[index]!.push(await round(sides[index]!, shared, isCold));
  for (const part of ["up", "down"] as const) {
    const [own, peer] = found.map((times) => times.map((one) => one[part])) as [number[], number[]];
    row(`${part}, ${what}, ${count} rounds`, [own, peer], "<= 0.5");
  }
}

const work = mkdtempSync(join(tmpdir(), "runt-bench-group-"));
const tree = values.tree === undefined ? undefined : resolve(values.tree);
spawnSync("ip", ["link", "set", "lo", "up"]);
// Before the daemon starts, so that it has the same mounts.
if (tree !== undefined) prepareTree(tree, work);
const daemon = new BenchDaemon();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void daemon.end().then(() => process.exit(1)));
try {
  const rootfs = join(work, "rootfs");
  for (const name of ["bin", "shared", "tmp", "proc", "dev", "sys", "etc"]) mkdirSync(join(rootfs, name), { recursive: true });
  const busybox = spawnSync("sh", ["-c", "command -v busybox"], { encoding: "utf8" }).stdout.trim();
  cpSync(busybox, join(rootfs, "bin/busybox"));
  for (const name of ["sh", "sleep", "touch", "true"]) symlinkSync("busybox", join(rootfs, "bin", name));
  const archive = makeArchive(work, rootfs, [{ reference: REFERENCE, command: ["sh"] }]);
  const shared = new Shared(join(work, "shared"));
  const place = { work, shared: shared.directory, archive, reference: REFERENCE };
  await daemon.ready();
  const own = engineSide(daemon, place);
  const peer = podmanSide(place, tree);
  const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
  console.log(`runtd ${version}, Node ${process.versions.node}; ${peer.version}. ${describe(machine(resolve("bin/runt")))}.\n`);
  console.log(
    `| milliseconds, median (least) | \`${own.name}\` | \`${peer.name}\` | ratio | target |\n| --- | ---: | ---: | ---: | ---: |`,
  );
  const sides = [own, peer] as const;
  await compare("cold", Number(values.cold), sides, shared, true);
  for (const side of sides) {
    await side.pull();
    await round(side, shared, false);
  }
  await compare("warm", Number(values.rounds), sides, shared, false);
  await compareOne(Number(values.rounds), sides);
  for (const side of sides) await side.forget();
} finally {
  await daemon.end();
  // Everything that podman has mounted is in this mount namespace.
  spawnSync("umount", ["--lazy", "--recursive", ...(tree === undefined ? [] : [tree])]);
  rmSync(work, { recursive: true, force: true });
}
