/** update: other limits for a container that exists. */
import { driverOf } from "../cgroup/drivers/index.ts";
import { updateCgroup } from "../cgroup/index.ts";
import { deriveResources } from "../config/index.ts";
import { RuntError, WORDS } from "../errors/index.ts";
import { refuseInMachine, stageKeptConfig, updateInMachine } from "../execute/index.ts";
import * as host from "../host/index.ts";
import type { RuntimeOptions } from "../prepare/index.ts";
import { changeSchemata, type GroupRef } from "../resctrl/index.ts";
import type { SpecResources } from "../spec/index.ts";
import {
  containerDirectory,
  deriveStatus,
  lock,
  publishRecord,
  readAgain,
  readRecord,
  type StateRecord,
  stageRecord,
} from "../state/index.ts";

export interface UpdateRequest {
  readonly resources: SpecResources;
  /** Lines for the container's resctrl group. */
  readonly schemata: readonly string[];
}

/** @throws RuntError; then nothing has changed */
export function update({ root }: RuntimeOptions, id: string, { resources, schemata }: UpdateRequest): void {
  readRecord(root, id);
  lock(containerDirectory(root, id));
  const record = readAgain(root, id);
  const status = deriveStatus(root, record, true);
  if (status === "stopped" || status === "creating") throw new RuntError("wrong-status", WORDS.notRunning);
  if (record.annotations["io.runt.isolation"] === "vm") {
    if (schemata.length > 0) refuseInMachine("resource control");
    updateInMachine(record, resources);
    stage(root, record, resources, [])();
    return;
  }
  const { cgroup } = record;
  if (!cgroup) throw new RuntError("cgroup", "update requires the container to have a cgroup");
  const warnings: string[] = [];
  const wanted = deriveResources(resources, (_code, _pointer, message) => warnings.push(message));
  const restore = schemata.length > 0 ? changeSchemata(groupOf(record), schemata) : undefined;
  try {
    updateCgroup(cgroup, wanted, driverOf(cgroup), (more) => stage(root, record, resources, [...warnings, ...more]));
  } catch (error) {
    restore?.();
    throw error;
  }
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

function groupOf({ resctrl }: StateRecord): GroupRef {
  if (!resctrl) throw new RuntError("resctrl", "updating a non-existent Intel RDT configuration is not supported");
  return resctrl;
}
