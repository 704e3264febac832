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

/**
 * The maps of a user namespace that is joined by path, against those that the configuration names too
 * (containerd and CRI-O do).
 * @throws RuntError "config-invalid"
 */
export function verifyIdMaps(pid: number, { uidMap, gidMap }: OpArgs<"idmap.verify">): void {
  for (const [kind, wanted] of [
    ["uid", uidMap],
    ["gid", gidMap],
  ] as const) {
    const actual = host
      .readFile(`/proc/${pid}/${kind}_map`, undefined, true)
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => line.trim().split(/\s+/).join(" "));
    if (sorted(actual) === sorted(lines(wanted))) continue;
    const field = `${kind}Mappings`;
    throw new RuntError("config-invalid", `linux.${field}: the user namespace that is joined has others: ${actual.join(", ") || "none"}`, {
      pointer: `/linux/${field}`,
      hint: "leave them out",
    });
  }
}

/** As proc(5) has them: container id, host id, size. */
function lines(triples: readonly number[]): string[] {
  return Array.from({ length: triples.length / 3 }, (_, index) => triples.slice(3 * index, 3 * index + 3).join(" "));
}

function sorted(maps: readonly string[]): string {
  return [...maps].sort().join("\n");
}
