/**
 * The file systems that nearly every configuration mounts. An init that waits for its plan makes them in the meantime, with their usual options
 * (native-bindings/init/prepare.c), and the plan takes those that are as it wants them.
 */
import { member } from "../../spec/index.ts";

const PROC = 1;
/** With nosuid, nodev, noexec, as engines ask for it. */
const SAFE_PROC = 2;

/** Bits of the shared page, in the order of prepare.c. */
const BITS: Readonly<Record<string, number>> = {
  "proc /proc": PROC,
  "tmpfs /dev": 4,
  "devpts /dev/pts": 8,
  "tmpfs /dev/shm": 16,
  "mqueue /dev/mqueue": 32,
  "sysfs /sys": 64,
};

/** A hint. `mounts`: of the configuration, not checked in any way. */
export function usualFileSystems(mounts: unknown): number {
  let bits = 0;
  if (!Array.isArray(mounts)) return bits;
  for (const mount of mounts) {
    const bit = BITS[`${member(mount, "type")} ${member(mount, "destination")}`] ?? 0;
    bits |= bit === PROC && member(member(mount, "options"), "length") ? SAFE_PROC : bit;
  }
  return bits;
}
