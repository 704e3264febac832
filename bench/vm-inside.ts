/**
 * `exec` of an ordinary container on a host that is emulated as the guest is: runt within a container in a machine. That says what a machine's own `exec`
 * may take: the emulator makes every program slower.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CAPABILITIES } from "../src/shared/linux/index.ts";
import type { Config } from "../test/support/config.ts";

const PLACE = "/inside";

/** `outer` becomes the configuration of a container in which runt runs `inner`. `directory`: of files for it, on the host. */
export function makeInside(outer: Config, inner: Config, runt: string, directory: string): void {
  mkdirSync(directory);
  inner.root = { path: "rootfs" };
  inner.linux.cgroupsPath = "/inside";
  writeFileSync(join(directory, "config.json"), JSON.stringify(inner));
  outer.process.capabilities = Object.fromEntries(["bounding", "effective", "permitted"].map((set) => [set, [...CAPABILITIES]]));
  outer.process["noNewPrivileges"] = false;
  for (const name of ["maskedPaths", "readonlyPaths", "seccomp"]) delete outer.linux[name];
  outer.mounts = [
    ...outer.mounts.filter(({ type }) => type !== "cgroup"),
    { destination: "/sys/fs/cgroup", type: "cgroup", source: "cgroup", options: ["nosuid", "noexec", "nodev"] },
    { destination: PLACE, type: "tmpfs", source: "tmpfs", options: [] },
    { destination: "/config", type: "bind", source: directory, options: ["bind", "ro"] },
    { destination: "/runt", type: "bind", source: runt, options: ["bind", "ro"] },
  ];
}

/** A command for the outer container: makes the inner one. */
export const BEGIN = [
  `mkdir -p ${PLACE}/b/rootfs/bin ${PLACE}/b/rootfs/proc ${PLACE}/b/rootfs/dev ${PLACE}/b/rootfs/sys`,
  `cp /bin/busybox ${PLACE}/b/rootfs/bin/busybox`,
  `for each in sh sleep true; do ln -s busybox ${PLACE}/b/rootfs/bin/$each; done`,
  `cp /config/config.json ${PLACE}/b/config.json`,
  `/runt --root ${PLACE}/state run --detach -b ${PLACE}/b inner </dev/null >/dev/null 2>${PLACE}/log || cat ${PLACE}/log >&2`,
].join(" && ");

/** Prints the clock's seconds before the first of so many `exec` and after each. */
export const timed = (count: number): string =>
  `i=0; read now rest </proc/uptime; echo $now; while [ $i -lt ${count} ]; do ` +
  `/runt --root ${PLACE}/state exec inner /bin/true || exit; read now rest </proc/uptime; echo $now; i=$((i + 1)); done`;

/** Milliseconds that each has taken. */
export function durations(printed: string): number[] {
  const times = printed.trim().split("\n").map(Number);
  return times.slice(1).map((time, index) => (time - times[index]!) * 1000);
}
