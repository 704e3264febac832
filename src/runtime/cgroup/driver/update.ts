/** New limits for a cgroup in use: all of them, or none. */
import type { ResourceConfig } from "../../config/index.ts";
import { RuntError } from "../../errors/index.ts";
import * as host from "../../host/index.ts";
import { compileCgroup } from "../compile/index.ts";
import type { CgroupWrite } from "../compile/steps.ts";
import type { CgroupDriver } from "../drivers/types.ts";
import { readHierarchies } from "../hierarchies.ts";
import type { CgroupRef } from "../model.ts";
import { completeResources, refuseTooLow } from "./current.ts";
import type { Owner } from "./survey.ts";
import { readIfThere } from "./tree.ts";
import { refuseAnothers } from "./whose.ts";
import { writeCgroupFile } from "./write.ts";

interface Written {
  readonly path: string;
  readonly value: string;
  /** Content before; undefined where the file cannot be read. */
  readonly before: string | undefined;
}

/**
 * What is to be kept of the new values, with the warnings: called before anything is written, and what it returns when all of it is. Where either
 * throws, the old values are in force.
 */
export type Keep = (warnings: readonly string[]) => () => void;

const NOTHING: Keep = () => () => {};

/**
 * Apply what `resources` names and leave everything else as it is; device rules are never touched. When a value is refused, the
 * ones before it are taken back. The warnings that `keep` gets say what is applied otherwise than asked for.
 * @throws RuntError cgroup or config-invalid
 */
export function updateCgroup(
  cgroup: CgroupRef,
  owner: Pick<Owner, "mark">,
  resources: ResourceConfig,
  driver: Pick<CgroupDriver, "tellLimits">,
  keep: Keep = NOTHING,
): void {
  refuseAnothers(cgroup, owner);
  const facts = readHierarchies();
  const mountpoint = facts.hierarchies.find((hierarchy) => cgroup.paths[0]?.startsWith(`${hierarchy.mountpoint}/`))?.mountpoint;
  if (mountpoint === undefined) throw new RuntError("cgroup", "the container has no cgroup");
  const complete = completeResources(cgroup, { ...resources, devices: [] });
  refuseTooLow(cgroup, complete);
  // Rootless is what leaves device rules alone.
  const { writes: asked, warnings } = compileCgroup(facts, cgroup.paths[0]!.slice(mountpoint.length), complete, { rootless: true });
  // The callee may write the same files.
  const before = new Map(asked.map(({ path }) => [path, readOld(path)]));
  const publish = keep(warnings);
  const { writes, undo } = driver.tellLimits(cgroup, asked);
  const written: Written[] = [];
  try {
    writeAll(writes, written, before);
    publish();
  } catch (error) {
    undo();
    restore(written.reverse());
    throw error;
  }
}

/**
 * Files bind each other (memory and memory+swap, period and quota), and which order is allowed depends on the old values: what is
 * refused as invalid is tried again after the others, as long as that gets any further.
 */
function writeAll(writes: readonly CgroupWrite[], written: Written[], old: ReadonlyMap<string, string | undefined>): void {
  let pending = writes;
  while (pending.length > 0) {
    const refused: CgroupWrite[] = [];
    let first: unknown;
    for (const write of pending) {
      const before = old.get(write.path);
      try {
        writeCgroupFile(write.path, write.value, write.from);
        written.push({ path: write.path, value: write.value, before });
      } catch (error) {
        if (!isInvalid(error)) throw error;
        first ??= error;
        refused.push(write);
      }
    }
    if (refused.length === pending.length) throw first;
    pending = refused;
  }
}

function isInvalid(error: unknown): boolean {
  return error instanceof RuntError && host.isErrno(error.details.cause, "EINVAL");
}

function readOld(path: string): string | undefined {
  try {
    return readIfThere(path);
  } catch (error) {
    if (host.isErrno(error, "EACCES", "EINVAL", "EOPNOTSUPP")) return undefined;
    throw error;
  }
}

/** As far as the kernel lets it: the error that led here is the one to tell. */
function restore(written: readonly Written[]): void {
  const writes = written.flatMap(({ path, value, before }) =>
    before === undefined ? [] : [{ path, value: oldValue(path, value, before), from: "" }],
  );
  try {
    writeAll(writes, [], new Map());
  } catch (error) {
    if (!(error instanceof RuntError)) throw error;
  }
}

/** A file of several settings (one a device) takes one of them a write. */
function oldValue(path: string, value: string, before: string): string {
  const device = /^\d+:\d+ /.exec(value)?.[0];
  if (device === undefined) return before.trim();
  const line = before.split("\n").find((candidate) => candidate.startsWith(device));
  if (line !== undefined) return line;
  return device + (path.endsWith("/io.max") ? "rbps=max wbps=max riops=max wiops=max" : "0");
}
