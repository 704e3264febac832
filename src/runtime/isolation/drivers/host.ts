/** A container on the host: its processes are in its cgroup, and its limits are those of that. */
import { driverOf } from "../../cgroup/drivers/index.ts";
import { freeze, type Owner, signalCgroup, thaw, updateCgroup } from "../../cgroup/index.ts";
import { deriveResources } from "../../config/index.ts";
import { RuntError } from "../../errors/index.ts";
import { changeSchemata, type GroupRef } from "../../resctrl/index.ts";
import type { StateRecord } from "../../state/index.ts";
import type { Isolation, Stage, UpdateRequest } from "./types.ts";

export const HOST: Isolation = {
  signalAll: signalCgroup,
  freeze,
  thaw(cgroup, owner, isFrozen) {
    if (isFrozen) thaw(cgroup, owner);
    return isFrozen;
  },
  update,
  passOn: () => undefined,
  furtherProcess({ id, shell }, _, asked) {
    if (shell !== undefined) throw new RuntError("not-supported", `the container ${id} is in no machine`);
    return asked();
  },
  requireHost: () => {},
  dependents: () => [],
};

function update(record: StateRecord, owner: Owner, { resources, schemata }: UpdateRequest, stage: Stage): void {
  const { cgroup } = record;
  if (!cgroup) throw new RuntError("cgroup", "update requires the container to have a cgroup");
  const warnings: string[] = [];
  const wanted = deriveResources(resources, (_code, _pointer, message) => warnings.push(message));
  const restore = schemata.length > 0 ? changeSchemata(groupOf(record), schemata) : undefined;
  try {
    updateCgroup(cgroup, owner, wanted, driverOf(cgroup), (more) => stage([...warnings, ...more]));
  } catch (error) {
    restore?.();
    throw error;
  }
}

function groupOf({ resctrl }: StateRecord): GroupRef {
  if (!resctrl) throw new RuntError("resctrl", "updating a non-existent Intel RDT configuration is not supported");
  return resctrl;
}
