/** Write the maps of init's user namespace: by hand, or by the setuid programs of shadow-utils. */

import type { OpArgs } from "../../shared/protocol/index.ts";
import { RuntError } from "../errors/index.ts";
import * as host from "../host/index.ts";

const TIMEOUT_MS = 30_000;

/** user_namespaces(7): setgroups must be denied before an unprivileged gid_map is written; newgidmap(1) sees to it itself. */
export function writeIdMaps(pid: number, { uidMap, gidMap, setgroups, uidProgram, gidProgram }: OpArgs<"idmap.write">): void {
  if (gidProgram !== "") runIdProgram(gidProgram, pid, gidMap, "/linux/gidMappings");
  else {
    if (!setgroups) writeProc(pid, "setgroups", "deny");
    writeProc(pid, "gid_map", mapLines(gidMap));
  }
  if (uidProgram !== "") runIdProgram(uidProgram, pid, uidMap, "/linux/uidMappings");
  else writeProc(pid, "uid_map", mapLines(uidMap));
}

function runIdProgram(path: string, pid: number, triples: readonly number[], pointer: string): void {
  const { status, stderr } = host.runProgram(path, [path, String(pid), ...triples.map(String)], [], "", TIMEOUT_MS);
  if (status !== 0) throw new RuntError("operation", `idmap.write: ${path}: exit status ${status}: ${stderr.trim()}`, { pointer });
}

function mapLines(triples: readonly number[]): string {
  let text = "";
  for (let index = 0; index < triples.length; index += 3) text += `${triples[index]} ${triples[index + 1]} ${triples[index + 2]}\n`;
  return text;
}

export function writeProc(pid: number, file: string, text: string): void {
  host.writeFile(`/proc/${pid}/${file}`, text, host.O.WRONLY, 0);
}
