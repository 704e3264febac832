/** The maps of a user namespace that is joined by path, against those that the configuration names too (containerd and CRI-O do). */

import type { OpArgs } from "../../shared/protocol/index.ts";
import { RuntError } from "../errors/index.ts";
import * as host from "../host/index.ts";

/** @throws RuntError "config-invalid" */
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
