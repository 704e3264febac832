/**
 * A machine of --isolation vm beside the emptiest one, as root after `make guest-image`:
 *
 *   tsx bench/vm.ts [--rounds N]
 *
 * The empty one has the same hypervisor, kernel and size, no device but the console, and an initrd whose first process prints a word. In turns: until the
 * word is there, and until the first output of `runt run --isolation vm`. Then, in one machine that stays: `exec` beside `exec` in an ordinary
 * container and beside `exec` of a runt that runs in the machine itself (bench/vm-inside.ts), and what its processes take on the host beside the
 * guest's memory.
 */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { type Config, sampleConfig } from "../test/support/config.ts";
import { sharedRootfs } from "../test/support/programs.ts";
import { cpio } from "../tools/guest-image/cpio.ts";
import { describe, machine } from "./machine.ts";
import { median } from "./stats.ts";
import { BEGIN, durations, makeInside, timed } from "./vm-inside.ts";

const { values } = parseArgs({ options: { rounds: { type: "string", default: "20" } } });
const ROUNDS = Number(values.rounds);
const RUNT = resolve("bin/runt");
const VM_CONFIG = resolve("build/vm/vm.json");
const { image } = JSON.parse(readFileSync(VM_CONFIG, "utf8")) as { image: string };
const MEMORY_MIB = 256;
/** As src/runtime/isolation/boot/hypervisor.ts has them. */
const KERNEL_WORDS = "quiet loglevel=1 no_timer_check tsc=reliable mitigations=off random.trust_cpu=on cgroup_no_v1=all panic=-1 reboot=t";
const WORD = "up";
const directory = mkdtempSync(join(tmpdir(), "runt-bench-vm-"));
const root = join(directory, "root");

function emptyMachine(): string[] {
  const busybox = readFileSync(join(sharedRootfs(), "bin/busybox"));
  const script = Buffer.from(`#!/busybox sh\necho ${WORD}\n/busybox poweroff -f\n`);
  const entries = [
    { path: "busybox", content: busybox, mode: 0o755 },
    { path: "init", content: script, mode: 0o755 },
  ];
  writeFileSync(join(directory, "initrd"), cpio(entries));
  return [
    "qemu-system-x86_64",
    ...["-nodefaults", "-no-user-config", "-no-reboot", "-display", "none", "-monitor", "none", "-parallel", "none"],
    ...["-machine", "q35,memory-backend=memory,hpet=off,usb=off,vmport=off,smm=off"],
    ...["-accel", "tcg,thread=multi,tb-size=32", "-cpu", "max,-cx16", "-smp", "1", "-m", String(MEMORY_MIB)],
    ...["-object", `memory-backend-memfd,id=memory,size=${MEMORY_MIB}M,share=on`],
    ...["-kernel", join(image, "boot/vmlinux"), "-initrd", join(directory, "initrd")],
    ...["-append", `console=ttyS0 ${KERNEL_WORDS} rdinit=/init`, "-serial", "stdio"],
  ];
}

function configOf(name: string, command: string): Config {
  const config = sampleConfig("hello");
  config.root.path = sharedRootfs();
  config.process.args = ["/bin/sh", "-c", command];
  config.linux.cgroupsPath = `/runt-bench-vm-${process.pid}/${name}`;
  config.linux.resources = {};
  return config;
}

function bundle(name: string, command: string, change: (config: Config) => void = () => {}): string {
  const path = join(directory, name);
  mkdirSync(path);
  const config = configOf(name, command);
  change(config);
  writeFileSync(join(path, "config.json"), JSON.stringify(config));
  return path;
}

/** Milliseconds until it has printed the word. Returns when it has ended. */
async function untilWord([file = "", ...args]: readonly string[]): Promise<number> {
  const began = performance.now();
  const child = spawn(file, args, { stdio: ["ignore", "pipe", "inherit"], env: { ...process.env, RUNT_VM_CONFIG: VM_CONFIG } });
  let took = Number.NaN;
  let printed = "";
  // A serial port brings it letter by letter.
  child.stdout.on("data", (bytes: Buffer) => {
    printed += bytes.toString("latin1");
    if (Number.isNaN(took) && printed.includes(WORD)) took = performance.now() - began;
  });
  await new Promise((done) => child.on("close", done));
  if (Number.isNaN(took)) throw new Error(`${file} has not printed "${WORD}"`);
  return took;
}

const runt = (...args: readonly string[]): string =>
  execFileSync(RUNT, ["--root", root, ...args], {
    encoding: "utf8",
    env: { ...process.env, RUNT_VM_CONFIG: VM_CONFIG },
    stdio: ["ignore", "pipe", "inherit"],
  });

async function boots(): Promise<void> {
  const [empty, own] = [emptyMachine(), [RUNT, "--root", root, "run", "--isolation", "vm", "-b", bundle("hello", `echo ${WORD}`), "hello"]];
  const times = { empty: [] as number[], own: [] as number[] };
  for (let round = 0; round < ROUNDS; round++) {
    for (const side of round % 2 === 0 ? (["empty", "own"] as const) : (["own", "empty"] as const)) {
      times[side].push(await untilWord(side === "empty" ? empty : own));
    }
  }
  const ratios = times.own.map((each, round) => each / times.empty[round]!);
  print("first output of the empty machine", median(times.empty), "ms");
  print("first output of a container in a machine", median(times.own), "ms");
  print("median of the pairs' ratios", median(ratios), "x");
}

/** KiB of a process on the host that are not the guest's memory. */
function ownKib(pid: number): number {
  let sum = 0;
  let isGuest = false;
  for (const line of readFileSync(`/proc/${pid}/smaps`, "utf8").split("\n")) {
    if (/^[0-9a-f]+-[0-9a-f]+ /.test(line)) isGuest = line.includes("/memfd:memory-backend-memfd");
    const pss = /^Pss: +(\d+) kB/.exec(line);
    if (pss && !isGuest) sum += Number(pss[1]);
  }
  return sum;
}

function stays(): void {
  for (const [name, isolation] of [
    ["machine", "vm"],
    ["ordinary", "host"],
  ] as const) {
    // Its standard streams are not this process's, which would wait for their end.
    const path = bundle(name, "exec sleep 600", (config) => {
      if (isolation === "vm") makeInside(config, configOf("inner", "exec sleep 600"), RUNT, join(directory, "inside"));
    });
    const { status } = spawnSync(RUNT, ["--root", root, "run", "--detach", "--isolation", isolation, "-b", path, name], {
      stdio: "ignore",
      env: { ...process.env, RUNT_VM_CONFIG: VM_CONFIG },
    });
    if (status !== 0) throw new Error(`run --isolation ${isolation}: status ${status}`);
  }
  try {
    const took = (name: string): number => {
      const began = performance.now();
      runt("exec", name, "/bin/true");
      return performance.now() - began;
    };
    const times = { machine: [] as number[], ordinary: [] as number[], inside: [] as number[] };
    runt("exec", "machine", "/bin/sh", "-c", BEGIN);
    for (let round = 0; round < ROUNDS; round++) {
      for (const name of ["machine", "ordinary"] as const) times[name].push(took(name));
      times.inside.push(...durations(runt("exec", "machine", "/bin/sh", "-c", timed(1))));
    }
    print("exec in a machine", median(times.machine), "ms");
    print("exec in an ordinary container", median(times.ordinary), "ms");
    print("exec in an ordinary container on an emulated host", median(times.inside), "ms");
    print("exec in a machine, by that", median(times.machine) / median(times.inside), "x");
    const pids = JSON.parse(runt("ps", "--format", "json", "machine")) as number[];
    print("memory of its processes beside the guest's", pids.reduce((sum, pid) => sum + ownKib(pid), 0) / 1024, "MiB");
  } finally {
    for (const name of ["machine", "ordinary"]) runt("delete", "--force", name);
  }
}

function print(what: string, value: number, unit: string): void {
  console.log(`| ${what} | ${value.toFixed(unit === "x" ? 2 : value < 100 ? 1 : 0)} ${unit} |`);
}

try {
  console.log(describe(machine(RUNT)));
  await boots();
  stays();
} finally {
  rmSync(directory, { recursive: true, force: true });
}
