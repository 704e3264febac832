/** Programs and the root file system that the tests need, built once below build/test: each is there as a whole, for lanes that run beside this one. */
import { cpSync, existsSync, mkdirSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { runSync } from "./run-sync.ts";

export const REPOSITORY = resolve(import.meta.dirname, "../..");
const BUILD = join(REPOSITORY, "build/test");

function isNewer(target: string, source: string): boolean {
  return existsSync(target) && statSync(target).mtimeMs >= statSync(source).mtimeMs;
}

/** A static program made from test/probe/NAME.c. */
export function program(name: string): string {
  const source = join(REPOSITORY, "test/probe", `${name}.c`);
  const target = join(BUILD, name);
  if (!isNewer(target, source)) {
    mkdirSync(BUILD, { recursive: true });
    const making = `${target}.${process.pid}`;
    const options = ["-O2", "-Wall", "-Wextra", "-Werror", "-static", "-s", "-idirafter", join(REPOSITORY, "build/kernel-headers")];
    runSync("musl-gcc", [...options, source, "-o", making], { stdio: "inherit" });
    renameSync(making, target);
  }
  return target;
}

/** Busybox with the probe as /probe. Shared by many containers: tests do not write into it. */
export function sharedRootfs(): string {
  const rootfs = join(BUILD, "rootfs");
  const probe = program("probe");
  if (!existsSync(rootfs)) {
    const making = `${rootfs}.${process.pid}`;
    makeRootfs(making);
    try {
      renameSync(making, rootfs);
    } catch (error) {
      // Somebody else's is there by now, and perhaps in use.
      if (!["ENOTEMPTY", "EEXIST"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
      rmSync(making, { recursive: true });
    }
  }
  const inside = join(rootfs, "probe");
  if (!isNewer(inside, probe)) {
    cpSync(probe, `${inside}.${process.pid}`);
    renameSync(`${inside}.${process.pid}`, inside);
  }
  return rootfs;
}

/** One that no test has written into, as all of them do into the shared one: there a mount makes its mount point. */
export function untouchedRootfs(directory: string): string {
  const rootfs = join(directory, "untouched-rootfs");
  makeRootfs(rootfs);
  cpSync(program("probe"), join(rootfs, "probe"));
  return rootfs;
}

function makeRootfs(directory: string): void {
  runSync(join(REPOSITORY, "bundles/make-rootfs.sh"), [directory], { stdio: "inherit" });
}

/** The shared one; a copy of it in this directory, under a name that no test uses, if the root of a user namespace has no access to the repository. */
export function reachableRootfs(directory: string): string {
  const rootfs = sharedRootfs();
  return isReachable(rootfs) ? rootfs : copiedTo(join(directory, "reachable-rootfs"));
}

/** One of its own in this directory, for tests that write into it, or whose mounts have mount points made there. */
export function copiedRootfs(directory: string): string {
  return copiedTo(join(directory, "rootfs"));
}

function copiedTo(copy: string): string {
  runSync("cp", ["-ax", sharedRootfs(), copy]);
  return copy;
}

function isReachable(path: string): boolean {
  const SEARCH_FOR_OTHERS = 0o001;
  for (let at = path; at !== "/"; at = dirname(at)) if ((statSync(at).mode & SEARCH_FOR_OTHERS) === 0) return false;
  return true;
}
