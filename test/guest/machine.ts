/** One boot of the guest: QEMU by software emulation, its console, its results. */
import { spawn } from "node:child_process";
import { createWriteStream, rmSync, truncateSync, writeFileSync } from "node:fs";
import { createConnection } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Mode } from "./lanes.ts";

export interface Boot {
  readonly mode: Mode;
  /** Of test/guest/image/build.sh. */
  readonly root: string;
  readonly kernel: string;
  readonly payload: string;
  /** Name of the list of lanes in it. */
  readonly lanes: string;
  /** Raw disk that stays from boot to boot. */
  readonly kept?: string;
  /** Console log and results disk are made here. */
  readonly directory: string;
  readonly limitSeconds: number;
  /** Called for every line of the console. `cut` takes the machine's power. */
  readonly line: (text: string, cut: () => void) => void;
}

export interface Booted {
  /** Raw disk with a tar of what the guest brought out; empty when it never came so far. */
  readonly results: string;
  readonly console: string;
  readonly timedOut: boolean;
  readonly wasCut: boolean;
  /** Of QEMU: 0 also after a panic. */
  readonly status: number;
}

const RESULTS_BYTES = 64 * 1024 * 1024;
/** From the interrupt to the end. */
const GRACE_MS = 5_000;

const KERNEL_ARGUMENTS: Readonly<Record<Mode, readonly string[]>> = {
  v2: ["systemd.unified_cgroup_hierarchy=1"],
  v1: ["systemd.unified_cgroup_hierarchy=0", "systemd.legacy_systemd_cgroup_controller=1"],
};

export async function boot(options: Boot): Promise<Booted> {
  const results = join(options.directory, "results.img");
  const consoleLog = join(options.directory, "console.log");
  rmSync(results, { force: true });
  writeFileSync(results, "");
  truncateSync(results, RESULTS_BYTES);
  const log = createWriteStream(consoleLog, { flags: "a" });
  const monitor = join(options.directory, "monitor");
  // The machine ends with this process, however this ends.
  const child = spawn("setpriv", ["--pdeathsig", "KILL", "--", ...command(options, results, monitor)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout });
  let wasCut = false;
  const cut = () => {
    wasCut = true;
    child.kill("SIGKILL");
  };
  lines.on("line", (text) => {
    log.write(`${text}\n`);
    options.line(text.trimEnd(), cut);
  });
  let timedOut = false;
  let grace: NodeJS.Timeout | undefined;
  const timer = setTimeout(() => {
    timedOut = true;
    interrupt(monitor);
    grace = setTimeout(() => child.kill("SIGKILL"), GRACE_MS);
  }, options.limitSeconds * 1000);
  const status = await new Promise<number>((done, failed) => {
    child.on("error", failed);
    child.on("close", (code) => done(code ?? 255));
  });
  clearTimeout(timer);
  clearTimeout(grace);
  rmSync(monitor, { force: true });
  await new Promise<void>((done) => log.end(done));
  return { results, console: consoleLog, timedOut, wasCut, status };
}

/** Lets the kernel say on the console where each processor is: by an interrupt that it cannot mask, and takes for its end. */
function interrupt(monitor: string): void {
  const socket = createConnection(monitor, () => socket.end("nmi\n"));
  socket.on("error", (error) => console.error(`QEMU's monitor: ${error.message}`));
}

function command({ mode, lanes, root, kernel, payload, kept }: Boot, results: string, monitor: string): string[] {
  const drive = (id: string, file: string, ...more: string[]) => [
    "-drive",
    ["if=none", "format=raw", `id=${id}`, `file=${file}`, ...more].join(),
  ];
  return [
    "qemu-system-x86_64",
    ...["-M", "q35,hpet=off", "-accel", "tcg,thread=multi,tb-size=1024", "-cpu", "max,-cx16", "-smp", "2", "-m", "2048"],
    ...["-nodefaults", "-no-reboot", "-display", "none", "-chardev", "stdio,id=console,signal=off", "-serial", "chardev:console"],
    ...["-chardev", `socket,id=monitor,path=${monitor},server=on,wait=off`, "-mon", "monitor"],
    // Debian's cloud kernel has NVMe built in and no initrd is needed; virtio disks come as a module.
    ...[...drive("root", root, "snapshot=on", "cache=unsafe"), "-device", "nvme,drive=root,serial=root"],
    ...[...drive("payload", payload, "snapshot=on", "cache=unsafe"), "-device", "virtio-blk-pci,drive=payload,serial=payload"],
    ...[...drive("results", results, "cache=unsafe"), "-device", "virtio-blk-pci,drive=results,serial=results"],
    // What the guest has written is in the host's memory at once, and stays when QEMU is killed; what only the guest has in its memory is lost.
    ...(kept === undefined ? [] : [...drive("kept", kept, "cache=unsafe"), "-device", "virtio-blk-pci,drive=kept,serial=kept"]),
    ...["-kernel", kernel, "-append"],
    [
      "console=ttyS0 root=/dev/nvme0n1 rootfstype=ext4 rootwait rw panic=-1 unknown_nmi_panic no_timer_check tsc=reliable quiet mitigations=off random.trust_cpu=on",
      "systemd.unit=guest.target systemd.show_status=0",
      ...KERNEL_ARGUMENTS[mode],
      `runt.mode=${mode} runt.lanes=${lanes}`,
    ].join(" "),
  ];
}
