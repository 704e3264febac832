/** The small host that the faults are tried on: namespaces of its own (main.ts), temporary file systems, one bundle. */
import { spawn, spawnSync } from "node:child_process";
import { closeSync, cpSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Config, sampleConfig } from "../support/config.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { REPOSITORY, sharedRootfs } from "../support/programs.ts";
import type { takeSnapshot } from "../support/snapshot.ts";

const WORK = "/tmp/world";
/** A directory of every host, in which nothing of the tests lies. */
const ASIDE = "/mnt";
/** What is written on the way of a test, which no snapshot looks at. */
const CALLS = "/tmp/calls";
/** Copies: a build that goes on meanwhile changes nothing. */
const PRODUCT = `${CALLS}/runt`;
const TESTED = `${CALLS}/testing/runt`;
export const ROOT = `${WORK}/root`;
export const BUNDLE = `${WORK}/bundle`;
export const ROOTFS = `${BUNDLE}/rootfs`;
export const VOLUME = `${WORK}/volume`;
export const SOCKET = `${CALLS}/socket`;
/** For the verb mounts. */
export const MOUNTS = `${CALLS}/mounts.json`;
export const POINTS = `${CALLS}/points`;
export const LOG = `${CALLS}/log.json`;
/** With the pid of somebody else's process. */
export const VISITOR = `${CALLS}/visitor`;
export const ID = "faulty";

export interface Answer {
  /** 128 + signal. */
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
  /** It did not end within PATIENCE_MS: no wait has a bound above 10 s (docs/security.md, What bounds each wait). */
  readonly hangs: boolean;
}

/** `cgroups`: the name of the cgroup that all others are below; nobody else's has it. */
export function makeWorld(cgroups: string): { readonly watched: Parameters<typeof takeSnapshot>[0] } {
  // The tree under test may lie below one of them: it stays where it is.
  mustRun("mount", ["--bind", REPOSITORY, ASIDE]);
  for (const place of ["/tmp", "/run", "/dev/shm"]) mustRun("mount", ["-t", "tmpfs", "tmpfs", place]);
  mkdirSync(REPOSITORY, { recursive: true });
  mustRun("mount", ["--move", ASIDE, REPOSITORY]);
  mustRun("ip", ["link", "set", "lo", "up"]);
  for (const directory of [CALLS, ROOT, BUNDLE, VOLUME]) mkdirSync(directory, { recursive: true, mode: 0o755 });
  cpSync(join(REPOSITORY, "bin/runt"), PRODUCT);
  cpSync(join(REPOSITORY, "build/testing/runt"), TESTED);
  writeFileSync(MOUNTS, JSON.stringify({ mounts: [{ source: VOLUME, destination: "/made/added", options: ["bind"] }] }));
  writeFileSync(`${VOLUME}/file`, "of the volume\n");
  return { watched: { trees: [WORK, "/run", "/dev/shm"], cgroups } };
}

/** `/sys` and most mount targets are missing: it is the runtime that makes them. */
export function makeRootfs(owner: number): void {
  rmSync(ROOTFS, { recursive: true, force: true });
  for (const directory of ["bin", "etc", "proc", "dev"]) mkdirSync(join(ROOTFS, directory), { recursive: true, mode: 0o755 });
  cpSync(join(sharedRootfs(), "bin/busybox"), `${ROOTFS}/bin/busybox`);
  for (const applet of ["sh", "sleep", "true", "false"]) symlinkSync("busybox", `${ROOTFS}/bin/${applet}`);
  writeFileSync(`${ROOTFS}/etc/passwd`, "root:x:0:0:root:/root:/bin/sh\n");
  writeFileSync(`${ROOTFS}/etc/group`, "root:x:0:\n");
  mustRun("chown", ["-R", `${owner}:${owner}`, ROOTFS]);
}

export function writeBundle(cgroup: string, change: (config: Config) => void): void {
  const config = sampleConfig("hello");
  config.process.args = ["/bin/sleep", "1000"];
  config.linux.cgroupsPath = cgroup;
  change(config);
  writeFileSync(`${BUNDLE}/config.json`, JSON.stringify(config));
}

export function mustRun(file: string, args: readonly string[]): void {
  const { status, stderr } = call(file, args);
  if (status !== 0) throw new Error(`${file} ${args.join(" ")}: status ${status}: ${stderr}`);
}

/** Output goes to files: what a container keeps open must not hold anybody. */
export function call(file: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): Answer {
  const input = openSync("/dev/null", "r");
  const [out, err] = existsSync(CALLS) ? [`${CALLS}/out`, `${CALLS}/err`] : ["/dev/null", "/dev/null"];
  const [stdout, stderr] = [openSync(out, "w"), openSync(err, "w")];
  try {
    const options = { timeout: PATIENCE_MS, killSignal: "SIGKILL" as const, env: { ...process.env, ...env } };
    const { status, signal, error } = spawnSync(file, args, { ...options, stdio: [input, stdout, stderr] });
    const hangs = (error as NodeJS.ErrnoException | undefined)?.code === "ETIMEDOUT";
    return {
      status: status ?? (signal === "SIGKILL" ? 137 : 255),
      stdout: readFileSync(out, "utf8"),
      stderr: readFileSync(err, "utf8"),
      hangs,
    };
  } finally {
    for (const fd of [input, stdout, stderr]) closeSync(fd);
  }
}

/** The product, without faults. */
export function product(...args: readonly string[]): Answer {
  return call(PRODUCT, ["--root", ROOT, ...args]);
}

/** The test build, with a log of its own. */
export function tested(args: readonly string[], env: Readonly<Record<string, string>> = {}): Answer {
  rmSync(LOG, { force: true });
  return call(TESTED, ["--root", ROOT, "--log", LOG, "--log-format", "json", ...args], env);
}

/** Without waiting for its end. Returns its pid. */
export function begin(which: "product" | "tested", args: readonly string[], env: Readonly<Record<string, string>> = {}): number {
  const file = which === "product" ? PRODUCT : TESTED;
  const { pid } = spawn(file, ["--root", ROOT, ...args], { stdio: "ignore", env: { ...process.env, ...env } });
  if (pid === undefined) throw new Error(`${file} cannot be started`);
  return pid;
}

export function logLines(): string[] {
  return existsSync(LOG) ? readFileSync(LOG, "utf8").split("\n").filter(Boolean) : [];
}
