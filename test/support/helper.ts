/** Runs a plan through the helper in fresh namespaces and returns what it reported and printed. */
import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { packPlan, type TestOp } from "./pack.ts";
import { PATIENCE_MS } from "./patience.ts";

const BUILD = join(import.meta.dirname, "../../build");
export const HELPER = join(BUILD, "runt-init");
export const HELPER_ASAN = join(BUILD, "test/runt-init-asan");
const DRIVE = join(BUILD, "test/drive");
const REFUSE = join(BUILD, "test/refuse");

export interface Report {
  readonly type: number | string;
  readonly op: number;
  readonly errno: number;
  readonly value: number;
  readonly path: string;
  readonly text: string;
  readonly status: number;
}

export interface Outcome {
  readonly reports: readonly Report[];
  readonly stdout: string;
  readonly stderr: string;
  /** The error message, if there was one. */
  readonly error: Report | undefined;
  readonly warnings: readonly Report[];
  /** Exit status of init (or of the intermediate when it did not get so far). */
  readonly status: number | undefined;
}

export interface Options {
  readonly helper?: string;
  readonly driver?: readonly string[];
  /** System calls that are refused (names that test/support/refuse.c knows), and with which errno. */
  readonly refuse?: { readonly errno: "ENOSYS" | "EPERM"; readonly calls: readonly string[] };
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** Command in front of everything: `unshare ...`. */
  readonly prefix?: readonly string[];
  /** Soft RLIMIT_NOFILE of the helper. */
  readonly soft?: number;
}

const ERROR = 4;
const WARNING = 5;

export function runPlan(plan: Buffer | readonly TestOp[], options: Options = {}): Outcome {
  const directory = mkdtempSync(join(tmpdir(), "runt-native-"));
  try {
    const file = join(directory, "plan");
    writeFileSync(file, Buffer.isBuffer(plan) ? plan : packPlan(plan as readonly TestOp[]));
    const helper = [options.helper ?? HELPER];
    if (options.refuse) helper.unshift(REFUSE, options.refuse.errno, options.refuse.calls.join(","));
    const limit = options.soft === undefined ? [] : ["--soft", String(options.soft)];
    const command = [...(options.prefix ?? []), DRIVE, "--commit", ...limit, ...(options.driver ?? []), "--", ...helper, file];
    const result = spawnSync(command[0]!, command.slice(1), {
      stdio: ["pipe", "pipe", "pipe", "pipe"],
      encoding: "utf8",
      input: options.input ?? "",
      timeout: PATIENCE_MS,
      maxBuffer: 64 * 1024 * 1024,
      // The sanitizers cannot trace themselves in a non-dumpable process, and the helper's arenas live as long as it does.
      env: { ...process.env, ASAN_OPTIONS: "detect_leaks=0:abort_on_error=1", ...options.env },
    });
    if (result.error) throw result.error;
    const reports = String(result.output[3] ?? "")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as Report);
    return {
      reports,
      stdout: result.stdout,
      stderr: result.stderr,
      error: reports.find(({ type }) => type === ERROR),
      warnings: reports.filter(({ type }) => type === WARNING),
      status: (reports.find(({ type }) => type === "init") ?? reports.find(({ type }) => type === "intermediate"))?.status,
    };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** A root filesystem of busybox alone; the caller removes it. */
export function makeRootfs(): string {
  const root = mkdtempSync(join(tmpdir(), "runt-rootfs-"));
  chmodSync(root, 0o755);
  for (const directory of ["bin", "dev", "proc", "sys", "tmp", "etc"]) mkdirSync(join(root, directory));
  copyFileSync("/bin/busybox", join(root, "bin/busybox"));
  for (const name of [
    "sh",
    "cat",
    "ls",
    "stat",
    "id",
    "mount",
    "grep",
    "true",
    "readlink",
    "env",
    "touch",
    "tty",
    "ulimit",
    "hostname",
    "head",
    "sleep",
    "echo",
    "wc",
  ]) {
    symlinkSync("busybox", join(root, "bin", name));
  }
  return root;
}
