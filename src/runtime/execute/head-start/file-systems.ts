/**
 * The file systems that nearly every configuration mounts. An init that waits for its plan makes them in the meantime, with their usual options
 * (src/shared/protocol/prepared.ts), and the plan takes those that are as it wants them.
 */
import { PREPARED } from "../../../shared/protocol/index.ts";
import { member } from "../../spec/index.ts";

/** By type and destination. */
const BITS: Readonly<Record<string, number>> = {
  "proc /proc": 1 << PREPARED.proc,
  "tmpfs /dev": 1 << PREPARED.dev,
  "devpts /dev/pts": 1 << PREPARED.devpts,
  "tmpfs /dev/shm": 1 << PREPARED.shm,
  "mqueue /dev/mqueue": 1 << PREPARED.mqueue,
  "sysfs /sys": 1 << PREPARED.sysfs,
};

/** A hint. `mounts`: of the configuration, not checked in any way. */
export function usualFileSystems(mounts: unknown): number {
  let bits = 0;
  if (!Array.isArray(mounts)) return bits;
  for (const mount of mounts) {
    const bit = BITS[`${member(mount, "type")} ${member(mount, "destination")}`] ?? 0;
    bits |= bit === 1 << PREPARED.proc && member(member(mount, "options"), "length") ? 1 << PREPARED.safeProc : bit;
  }
  return bits;
}
