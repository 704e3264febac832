/** update: other limits for a container that exists. */
import { RuntError, WORDS } from "../errors/index.ts";
import { ownerOf, stageKeptConfig } from "../execute/index.ts";
import * as host from "../host/index.ts";
import { isolationOf, type UpdateRequest } from "../isolation/index.ts";
import type { RuntimeOptions } from "../prepare/index.ts";
import type { SpecResources } from "../spec/index.ts";
import { deriveStatus, lockRecord, publishRecord, type StateRecord, stageRecord } from "../state/index.ts";

/** @throws RuntError; then nothing has changed */
export function update({ root }: RuntimeOptions, id: string, request: UpdateRequest): void {
  const { record } = lockRecord(root, id);
  const status = deriveStatus(root, record, true);
  if (status === "stopped" || status === "creating") throw new RuntError("wrong-status", WORDS.notRunning);
  isolationOf(record).update(record, ownerOf(record, root), request, (warnings) => stage(root, record, request.resources, warnings));
}

/** Write what is to be known of the container from now on. Returns what makes it so. @throws RuntError system */
function stage(root: string, record: StateRecord, resources: SpecResources, warnings: readonly string[]): () => void {
  const fresh = warnings.filter((warning) => !record.warnings.includes(warning));
  return told(() => {
    const publishConfig = stageKeptConfig(root, record.id, resources);
    if (fresh.length > 0) stageRecord(root, { ...record, warnings: [...record.warnings, ...fresh] });
    return () =>
      told(() => {
        // The first of both is the one whose loss matters less, if the second fails.
        if (fresh.length > 0) publishRecord(root, record.id);
        publishConfig();
      });
  });
}

/** On a full disk or a read-only file system: the error says that the limits are the former ones. */
function told<T>(write: () => T): T {
  try {
    return write();
  } catch (error) {
    if (error instanceof RuntError || !(error instanceof Error && "errno" in error)) throw error;
    const { path = "the state of the container" } = error as host.HostError;
    throw new RuntError("system", `${path}: ${host.reason(error)}: the limits stay as they are`, { cause: error });
  }
}
