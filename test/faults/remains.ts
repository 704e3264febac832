/** Lines of the difference between two snapshots that a deleted container may leave. */
import { ROOT, ROOTFS } from "./world.ts";

/** Mount targets. */
export function isInRootfs(line: string): boolean {
  return line.startsWith(`+ file ${ROOTFS}/`);
}

/** Compiled filters belong to no container (docs/architecture.md, State). */
export function isCache(line: string): boolean {
  return line.includes(` ${ROOT}/@cache`);
}

/** Empty files are made anew by each container. */
export function withoutTime(line: string): string {
  return line.replace(/( 0) [\d.]+ 1 da39a3ee$/, "$1 empty");
}

/** It has been moved, and stays where it is. */
export function isDevice(line: string): boolean {
  return /^- interface /.test(line);
}

/** delete does not know of it, and runc leaves it too. */
export function isPidFile(line: string): boolean {
  return /^\+ file \/tmp\/world\/\.?pid /.test(line);
}

/** Under its temporary name, which only a kill may leave. */
export function isHalfPidFile(line: string): boolean {
  return line.startsWith("+ file /tmp/world/.pid ");
}

/** Of a container that nothing has happened to. */
export function mayStay(line: string): boolean {
  return isInRootfs(line) || isDevice(line) || isPidFile(line) || isCache(line);
}
