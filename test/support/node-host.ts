/**
 * The part of `runt:host` that the cgroup layer uses, on Node: so that its effects can be tried on real cgroups, or on
 * directories, without the binary. Extended attributes are kept in memory.
 */
import * as fs from "node:fs";
import { constants } from "node:os";

export const architecture = process.arch === "arm64" ? "arm64" : "x86-64";

const attributes = new Map<string, string>();

export function readFile(path: string): string {
  return fs.readFileSync(path, "utf8");
}

export function writeFile(path: string, text: string, flags: number, mode: number): void {
  const fd = fs.openSync(path, flags, mode);
  try {
    fs.writeSync(fd, text);
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

export function mkdir(path: string, mode: number): void {
  fs.mkdirSync(path, mode);
}

export function rmdir(path: string): void {
  fs.rmdirSync(path);
  attributes.delete(path);
}

export function readdir(path: string): string[] {
  return fs.readdirSync(path);
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
  if (fs.existsSync(path)) attributes.set(path, `${name}=${value}`);
}

export function getxattr(path: string, name: string): string | undefined {
  const [known, value] = attributes.get(path)?.split("=") ?? [];
  return known === name ? value : undefined;
}

export function kill(pid: number, signal: number): void {
  process.kill(pid, signal);
}

export function sleep(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

export function poll(fds: readonly number[], _events: readonly number[], timeoutMs: number): number[] {
  sleep(timeoutMs);
  return fds.map(() => 0);
}

export function strerror(errno: number): string {
  return Object.entries(constants.errno).find(([, value]) => value === Math.abs(errno))?.[0] ?? String(errno);
}
