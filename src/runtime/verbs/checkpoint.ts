/** checkpoint: a container's processes as files, by criu (docs/decisions/0021-checkpoint.md). */
import { refuseAnothers } from "../cgroup/index.ts";
import { requireCriu, requireFeatures } from "../criu/index.ts";
import { RuntError } from "../errors/index.ts";
import { type AskedPaths, type CheckpointFlags, destroy, dump, killInit, ownerOf, runPoststop } from "../execute/index.ts";
import * as host from "../host/index.ts";
import { isolationOf } from "../isolation/index.ts";
import { LIVE, loadBundle, type RuntimeOptions } from "../prepare/index.ts";
import { cleanPath } from "../spec/index.ts";
import { configPath, deriveStatus, lockRecord, openFile, type StateRecord } from "../state/index.ts";

/** @throws RuntError; then the container goes on as before */
export function checkpoint({ root }: RuntimeOptions, id: string, flags: CheckpointFlags): void {
  const { record } = lockRecord(root, id);
  isolationOf(record).requireHost("a checkpoint");
  const status = deriveStatus(root, record, true);
  if (status !== "running" && status !== "paused") {
    throw new RuntError("wrong-status", `Container cannot be checkpointed in ${status} state`);
  }
  if (host.geteuid() !== 0) throw new RuntError("criu", "checkpoint needs root: criu cannot dump for other users");
  checkParent(flags);
  // criu freezes it.
  if (record.cgroup) refuseAnothers(record.cgroup, ownerOf(record, root));
  const criu = requireCriu(flags.criu);
  requireFeatures(criu, { trackMemory: flags.preDump, lazyPages: flags.lazyPages });
  dump(criu, record, flags, askedPaths(root, record));
  if (flags.leaveRunning || flags.preDump) return;
  killInit(record);
  destroy(root, record);
  runPoststop(record);
}

function checkParent({ imagePath, parentPath }: CheckpointFlags): void {
  if (parentPath === undefined) return;
  if (parentPath.startsWith("/")) throw new RuntError("usage", "--parent-path must be relative to --image-path");
  if (!host.stat(cleanPath(`${imagePath}/${parentPath}`)))
    throw new RuntError("criu", `--parent-path ${parentPath}: not found from ${imagePath}`);
}

/** By the configuration that create has kept. Of an older record there is none: what comes from the host's filesystems is found without it. */
function askedPaths(root: string, { id, bundle }: StateRecord): AskedPaths {
  const kept = configPath(root, id);
  try {
    const { config } = host.lstat(kept) ? loadBundle(bundle, LIVE, `/proc/self/fd/${openFile(kept)}`) : loadBundle(bundle, LIVE);
    return {
      bound: new Set(config.mounts.flatMap((mount) => (mount.kind === "bind" ? [cleanPath(mount.target)] : []))),
      masked: new Set(config.maskedPaths.map(cleanPath)),
    };
  } catch (error) {
    if (error instanceof RuntError) return { bound: new Set(), masked: new Set() };
    throw error;
  }
}
