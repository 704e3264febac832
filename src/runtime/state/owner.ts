/** Whose something below a state root is. */
import { RuntError } from "../errors/index.ts";
import * as host from "../host/index.ts";
import { defenceDisabled } from "../testing/index.ts";

/** Whether this user is the caller or root. */
export function isOwner(uid: number): boolean {
  return uid === 0 || uid === host.geteuid();
}

/** @throws RuntError state-root */
export function refuseOwner(path: string, { uid }: host.Stat): void {
  if (isOwner(uid) || defenceDisabled("state-root")) return;
  throw new RuntError("state-root", `state directory ${path}: it belongs to the user ${uid}`);
}
