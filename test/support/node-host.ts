/**
 * The part of `runt:host` that the cgroup layer uses, on Node: so that its effects can be tried on real cgroups, or on
 * directories, without the binary; and what turns texts into bytes. Extended attributes are kept in memory.
 */
import * as fs from "node:fs";
import { constants, release } from "node:os";

export const kernelRelease = release;
export const architecture = process.arch === "arm64" ? "arm64" : "x86-64";

const attributes = new Map<string, string>();

export function readFile(path: string): string {
  return named(() => fs.readFileSync(path, "utf8"));
}

export function readLine(path: string): string | undefined {
  try {
    return readFile(path).split("\n")[0];
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "ENODEV"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw error;
  }
}

/** Node uses another name for the same number. */
function named<T>(action: () => T): T {
  try {
    return action();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw code === "ENOTSUP" ? Object.assign(error as Error, { code: "EOPNOTSUPP" }) : error;
  }
}

export function writeControl(path: string, text: string): void {
  writeFile(path, text, fs.constants.O_WRONLY, 0);
}

export function writeFile(path: string, text: string, flags: number, mode: number): void {
  const fd = fs.openSync(path, flags, mode);
  try {
    named(() => fs.writeSync(fd, text));
  } finally {
    fs.closeSync(fd);
  }
}

export function open(path: string, flags: number, mode = 0): number {
  return fs.openSync(path, flags, mode);
}

export function close(fd: number): void {
  fs.closeSync(fd);
}

export function readFd(fd: number): string {
  return fs.readFileSync(fd, "utf8");
}

export function chown(path: string, uid: number, gid: number): void {
  fs.chownSync(path, uid, gid === 0xffff_ffff ? -1 : gid);
}

export function mkdir(path: string, mode: number): void {
  fs.mkdirSync(path, mode);
}

export function tryMkdir(path: string, mode: number): boolean | undefined {
  try {
    fs.mkdirSync(path, mode);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return false;
    if (code === "ENOENT") return undefined;
    throw error;
  }
}

export function rmdir(path: string): void {
  const real = fs.realpathSync(path);
  fs.rmdirSync(path);
  attributes.delete(real);
}

export function readdir(path: string, directories = false): string[] {
  if (!directories) return fs.readdirSync(path);
  return fs.readdirSync(path, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
}

/** Done through /proc, because Node has no such call. */
export function openat(directory: number, path: string, flags: number): number {
  return open(`/proc/self/fd/${directory}/${path}`, flags);
}

export function fstat(fd: number): fs.BigIntStats {
  return fs.fstatSync(fd, { bigint: true });
}

/** Node has no pidfds. Processes are signalled by number. */
export function pidfdOpen(): never {
  throw Object.assign(new Error("no pidfds"), { code: "ENOSYS", errno: constants.errno.ENOSYS });
}

export function getpid(): number {
  return process.pid;
}

export function access(path: string, mode: number): boolean {
  try {
    fs.accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}

export function stat(path: string): { readonly mode: number; readonly nlink: number } | undefined {
  return fs.statSync(path, { throwIfNoEntry: false });
}

export function statfsType(path: string): number {
  return fs.statfsSync(path).type;
}

export function setxattr(path: string, name: string, value: string): void {
  if (fs.existsSync(path)) attributes.set(fs.realpathSync(path), `${name}=${value}`);
}

export function getxattr(path: string, name: string): string | null | undefined {
  if (!fs.existsSync(path)) return null;
  const [known, value] = attributes.get(fs.realpathSync(path))?.split("=") ?? [];
  return known === name ? value : undefined;
}

export function kill(pid: number, signal: number): void {
  process.kill(pid, signal);
}

export function sleep(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

export function monotonic(): number {
  return performance.now();
}

/** Signals are Node's own here: none ends a wait. */
export const blockSignals = (): void => {};
export const endWaitsBySignal = (): void => {};

/** Nothing is ever ready. It sleeps shortly, and the caller looks again. */
export function poll(fds: readonly number[], _events: readonly number[], timeoutMs: number): number[] {
  sleep(Math.min(timeoutMs, 2));
  return fds.map(() => 0);
}

export function utf8Encode(text: string): ArrayBuffer {
  return new Uint8Array(Buffer.from(text)).buffer;
}

export function utf8Decode(bytes: ArrayBuffer): string {
  return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
}

export function strerror(errno: number): string {
  return Object.entries(constants.errno).find(([, value]) => value === Math.abs(errno))?.[0] ?? String(errno);
}

export function needsExactParser(text: string): boolean {
  let depth = 0;
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}]/gs)) {
    if (token === "[" || token === "{") depth++;
    else if (token === "]" || token === "}") depth--;
    if (depth > 256) return true;
  }
  return /\d{16}/.test(text);
}

export function getegid(): number {
  return process.getegid?.() ?? 0;
}

export function geteuid(): number {
  return process.geteuid?.() ?? 0;
}
