/** Groups of the resctrl filesystem: found or made, filled, joined. Every error is a RuntError "resctrl". */
import { type ErrorDetails, RuntError } from "../errors/index.ts";
import * as host from "../host/index.ts";
import { firstDifference, parseSchemata } from "./schemata.ts";

const MODE = 0o755;

export interface GroupRef {
  /** Where resctrl is mounted. */
  readonly mount: string;
  /** Path of the group below it; "" is the default group. */
  readonly group: string;
}

/** The group's directory, or a file in it. */
export function pathOf({ mount, group }: GroupRef, file = ""): string {
  return [mount, group, file].filter((part) => part !== "").join("/");
}

/**
 * The operation `resctrl.prepare`. Returns true when the group was made by this call; one whose schemata are refused is removed again.
 * @param create whether an absent group may be made
 */
export function prepareGroup(ref: GroupRef, create: boolean, schemata: readonly string[], pointer: string): boolean {
  if (create ? !makeDirectory(ref, pointer) : host.stat(pathOf(ref))) {
    checkSchemata(ref, schemata, pointer);
    return false;
  }
  if (!create)
    throw new RuntError("resctrl", `linux.intelRdt: the group ${pathOf(ref)} does not exist`, {
      pointer,
      hint: "it is only made when there is a schema for it",
    });
  try {
    writeSchemata(ref, schemata, pointer);
  } catch (error) {
    host.rmdir(pathOf(ref));
    throw error;
  }
  return true;
}

/** The operation `resctrl.monitor`: one that is there already belongs to somebody else. */
export function makeMonitor(ref: GroupRef, pointer: string): void {
  if (!makeDirectory(ref, pointer)) throw monitorExists(ref, pointer);
}

export function monitorExists(ref: GroupRef, pointer: string): RuntError {
  return new RuntError("resctrl", `linux.intelRdt: the monitoring group ${pathOf(ref)} exists already`, { pointer });
}

/** The operation `resctrl.join`. What the process starts afterwards is in the group too. */
export function joinGroup(ref: GroupRef, pid: number, pointer: string): void {
  const path = pathOf(ref, "tasks");
  try {
    host.writeFile(path, String(pid), host.O.WRONLY, 0);
  } catch (error) {
    throw failure(ref, `cannot write process ${pid} to ${path}`, error, { pointer });
  }
}

/** New lines for a group in use; when one is refused, nothing has changed. Returns how to take them back. */
export function changeSchemata(ref: GroupRef, lines: readonly string[]): () => void {
  const changed = parseSchemata(lines);
  const before = readSchemata(ref)
    .map((line) => line.trim())
    .filter((line) => changed.has(line.slice(0, line.indexOf(":"))));
  const restore = () => writeSchemata(ref, before, "");
  try {
    writeSchemata(ref, lines, "");
  } catch (error) {
    restore();
    throw error;
  }
  return restore;
}

/** False when it is there already. */
function makeDirectory(ref: GroupRef, pointer: string): boolean {
  try {
    host.mkdir(pathOf(ref), MODE);
    return true;
  } catch (error) {
    if (host.isErrno(error, "EEXIST")) return false;
    const hint = host.isErrno(error, "ENOSPC") ? { hint: "the hardware has no more classes of service or monitors" } : {};
    throw failure(ref, `cannot make ${pathOf(ref)}`, error, { pointer, ...hint });
  }
}

/** A write a line: the kernel takes a resource only once a write, and the last one is to win. */
function writeSchemata(ref: GroupRef, lines: readonly string[], pointer: string): void {
  const path = pathOf(ref, "schemata");
  for (const line of lines) {
    try {
      host.writeFile(path, `${line}\n`, host.O.WRONLY, 0);
    } catch (error) {
      throw failure(ref, `cannot write "${line}" to ${path}`, error, { pointer });
    }
  }
}

function checkSchemata(ref: GroupRef, schemata: readonly string[], pointer: string): void {
  if (schemata.length === 0) return;
  const difference = firstDifference(parseSchemata(schemata), parseSchemata(readSchemata(ref)), bandwidthGranularity(ref));
  if (difference === undefined) return;
  throw new RuntError("resctrl", `linux.intelRdt: the group ${pathOf(ref)} exists with another schema for ${difference}`, { pointer });
}

function readSchemata(ref: GroupRef): string[] {
  const path = pathOf(ref, "schemata");
  try {
    return host.readFile(path, undefined, true).split("\n");
  } catch (error) {
    throw failure(ref, `cannot read ${path}`, error, {});
  }
}

function bandwidthGranularity(ref: GroupRef): bigint {
  const text = info(ref, "MB/bandwidth_gran");
  return /^[1-9]\d{0,8}$/.test(text) ? BigInt(text) : 1n;
}

/** With the kernel's own words, which say more than the errno. */
function failure(ref: GroupRef, what: string, error: unknown, details: ErrorDetails): RuntError {
  const status = info(ref, "last_cmd_status");
  const words = status === "" || status === "ok" ? "" : ` (${status})`;
  return new RuntError("resctrl", `linux.intelRdt: ${what}: ${host.reason(error)}${words}`, { ...details, cause: error });
}

/** "" where the kernel does not have it. */
function info({ mount }: GroupRef, name: string): string {
  try {
    return host.readFile(`${mount}/info/${name}`, undefined, true).trim();
  } catch (error) {
    if (host.isErrno(error, "ENOENT", "ENOTDIR")) return "";
    throw error;
  }
}
