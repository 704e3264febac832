/** What tests of containers in machines need. */
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { Config } from "./config.ts";
import { type Harness, shell } from "./harness.ts";
import { PATIENCE_MS } from "./patience.ts";
import { copiedRootfs, REPOSITORY } from "./programs.ts";

/** Of `make guest-image`. */
export const VM_CONFIG = join(REPOSITORY, "build/vm/vm.json");

const NEEDS: readonly (readonly [file: string, what: string])[] = [
  ["/usr/bin/qemu-system-x86_64", "the package qemu-system-x86 is not installed"],
  ["/usr/lib/qemu/virtiofsd", "the package qemu-system-common is not installed"],
  [VM_CONFIG, "there is no guest image: make guest-image"],
];

/** Why no machine can be tested here; undefined: it can. */
export function machineMissing(): string | undefined {
  if (process.env["RUNT_TEST_VM"] !== "yes") return "only by make test-vm";
  return NEEDS.find(([file]) => !existsSync(file))?.[1];
}

export const VM = ["--isolation", "vm"];
export const WITH_IMAGE = { env: { RUNT_VM_CONFIG: VM_CONFIG } };
export const VM_TIMEOUT = 5 * PATIENCE_MS;

const STAY = "trap 'exit 9' TERM; while :; do sleep 1 & wait $!; done";

export interface Machine {
  readonly name: string;
  readonly bundle: string;
  /** Of the monitor, on the host. */
  readonly pid: number;
  /** Directory that is /marks in the container. */
  readonly marks: string;
}

/** A bundle whose program makes /marks/up and stays. Mount points are made in its root. */
export function stayingBundle(harness: Harness, name: string, change: (config: Config) => void = () => {}): Omit<Machine, "pid"> {
  const marks = join(harness.directory, `marks-${name}`);
  const rootfs = join(harness.directory, "rootfs");
  mkdirSync(marks);
  const bundle = harness.bundle((config) => {
    shell(config, `echo up >/marks/up; ${STAY}`);
    config.root = { path: existsSync(rootfs) ? rootfs : copiedRootfs(harness.directory), readonly: false };
    config.mounts.push({ destination: "/marks", type: "bind", source: marks, options: ["rbind"] });
    change(config);
  });
  return { name, bundle, marks };
}

/** A machine whose container runs. */
export async function staying(harness: Harness, change?: (config: Config) => void): Promise<Machine> {
  const name = harness.id();
  const { bundle, marks } = stayingBundle(harness, name, change);
  await harness.ok(["run", "--detach", ...VM, "--pid-file", join(bundle, "pid"), "-b", bundle, name], WITH_IMAGE);
  const pid = pidOf(bundle);
  await untilUp({ pid, marks });
  return { name, bundle, pid, marks };
}

export const pidOf = (bundle: string): number => Number(readFileSync(join(bundle, "pid"), "utf8"));

export async function untilUp({ pid, marks }: Pick<Machine, "pid" | "marks">): Promise<void> {
  const progress = () => (existsSync(join(marks, "up")) ? "up" : isThere(pid) ? "booting" : "ended");
  await expect.poll(progress, { timeout: PATIENCE_MS, interval: 100 }).not.toBe("booting");
  expect(progress()).toBe("up");
}

/**
 * The processes in cgroups with this in their path, by what they execute, those of runt by their part of the machine (`machine-boot`): also of a machine
 * whose monitor is not known yet.
 */
export function programsIn(cgroup: string): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      if (!readFileSync(`/proc/${name}/cgroup`, "utf8").includes(`${cgroup}\n`) || !isThere(Number(name))) continue;
      const program = readFileSync(`/proc/${name}/comm`, "utf8").trim();
      const part = readFileSync(`/proc/${name}/cmdline`, "utf8").split("\0")[1] ?? "";
      found.set(program === "runt" ? part : program, Number(name));
    } catch {
      // It has just ended.
    }
  }
  return found;
}

/** The processes of a machine on the host, all below its monitor, by what they execute. */
export function programs({ pid }: Pick<Machine, "pid">): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  const add = (parent: number): void => {
    for (const child of readFileSync(`/proc/${parent}/task/${parent}/children`, "utf8").split(" ").filter(Boolean).map(Number)) {
      found.set(readFileSync(`/proc/${child}/comm`, "utf8").trim(), child);
      add(child);
    }
  };
  add(pid);
  return found;
}

export function isThere(pid: number): boolean {
  try {
    return /^State:\s+[A-WY]/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}
