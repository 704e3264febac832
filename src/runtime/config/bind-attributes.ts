/**
 * The flags of a bind mount. Without a word for any it keeps those of its source. With one it has what is asked for and nothing else of
 * the source's, but for the access time, which stays unless a mode is asked for: what mount(2) does with MS_REMOUNT and MS_BIND, and runc by it.
 */
import { MOUNT_ATTR } from "../../shared/linux/index.ts";
import type { ParsedOptions } from "./mount-option-list.ts";
import type { BindMount, MountAttributes } from "./types.ts";

const { RDONLY, NOSUID, NODEV, NOEXEC, NOSYMFOLLOW, NODIRATIME, ATIME } = MOUNT_ATTR;

const PLAIN = RDONLY | NOSUID | NODEV | NOEXEC | NOSYMFOLLOW;

export function bindAttributes({ attributes, touched, atime }: ParsedOptions): MountAttributes & Pick<BindMount, "attrDrop"> {
  if (!touched) return { ...attributes, attrDrop: 0n };
  const mode = atime ?? 0n;
  // nodiratime is one of the kernel's words for access times: an option for one of them sets all.
  const changesTimes = atime !== undefined || (attributes.attrSet & NODIRATIME) !== 0n;
  const attrSet = (attributes.attrSet & ~ATIME) | mode;
  const named = attributes.attrClear & PLAIN;
  const times = changesTimes ? ATIME | (NODIRATIME & ~attrSet) : 0n;
  return { ...attributes, attrSet, attrClear: named | times, attrDrop: PLAIN & ~attrSet & ~named };
}
