/** Programs that start themselves again in a mount namespace of their own: what they mount there must never be mounted where they were started. */
import { readlinkSync } from "node:fs";

const MOUNT_NAMESPACE = "/proc/self/ns/mnt";
const OUTER = "RUNT_TEST_OUTER_MOUNTS";

/** For the environment of what is started in a mount namespace of its own. */
export const outerMounts = (): Readonly<Record<string, string>> => ({ [OUTER]: readlinkSync(MOUNT_NAMESPACE) });

/** @throws Error: this process is in the mount namespace of whoever has started it, or was started by hand */
export function requireOwnMounts(): void {
  const outer = process.env[OUTER];
  if (outer === undefined || outer === readlinkSync(MOUNT_NAMESPACE))
    throw new Error("this option is for the program itself, which gives it in a mount namespace of its own");
}
