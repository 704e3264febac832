/**
 * Names of mounts that criu cannot keep apart from what is around them. Pure.
 *
 * It holds an external mount as the text `mnt[KEY]:VALUE`, also one that came as key and value of its protocol, and takes what follows the
 * first `]:` for the value when a shorter key is looked for. Mount points are paths of the image (a link leads there), so a `]:` in one of
 * them names a path of the host (CVE-2026-119614 in criu, CVE-2026-119101 in runc, CVE-2026-115520 in crun). From /proc/PID/mountinfo it
 * reads words that end at any white space, of which the kernel escapes only some: a carriage return ends the name early.
 */

import type { MountLine } from "../../shared/linux/index.ts";
import { RuntError } from "../errors/index.ts";
import type { ExternalMount } from "./messages.ts";

const SEPARATOR = "]:";
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROL = /[\0-\x1f\x7f]/;

/** Returns them. @throws RuntError "not-supported" that names the mount point */
export function requireReadableNames(mounts: readonly ExternalMount[]): readonly ExternalMount[] {
  for (const { key, value } of mounts) {
    if (key.includes(SEPARATOR) || CONTROL.test(key)) throw unreadable(key);
    if (value.includes(SEPARATOR)) {
      throw refusal(`criu cannot keep the mount point ${JSON.stringify(key)}: its source ${JSON.stringify(value)} has "]:" in its name`);
    }
  }
  return mounts;
}

/** A whole mount table: also what is not external is read by criu. @throws RuntError "not-supported" that names the mount point */
export function requireReadableTable(mounts: readonly MountLine[]): void {
  for (const { point, root } of mounts) if (CONTROL.test(point) || CONTROL.test(root)) throw unreadable(point);
}

function unreadable(mountpoint: string): RuntError {
  return refusal(`criu cannot keep the mount point ${JSON.stringify(mountpoint)}: its name has "]:" or a control character`);
}

function refusal(message: string): RuntError {
  return new RuntError("not-supported", message, { pointer: "/mounts" });
}
