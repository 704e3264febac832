/** Ids that the user namespace does not map. */
import * as host from "../../host/index.ts";
import { attempt, type ContainerRoot } from "./container-root.ts";

interface Ids {
  readonly uid: number;
  readonly gid: number;
  readonly groups: readonly number[];
}

/** `call`: what the helper failed in. */
export function explainUser({ proc }: ContainerRoot, { uid, gid, groups }: Ids, call: string): string | undefined {
  const kind = call.includes("setresuid") ? "uid" : "gid";
  const map = readMap(`${proc}/${kind}_map`);
  const wanted = kind === "uid" ? [uid] : [gid, ...groups];
  const missing = wanted.find((id) => !map.some(({ first, size }) => id >= first && id < first + size));
  if (missing === undefined) return undefined;
  const ranges = map.map(({ first, size }) => (size === 1 ? String(first) : `${first}-${first + size - 1}`)).join(", ");
  return `${kind} ${missing} is not mapped in the user namespace (mapped: ${ranges || "none"})`;
}

function readMap(path: string): { readonly first: number; readonly size: number }[] {
  return (attempt(() => host.readFile(path, undefined, true)) ?? "")
    .split("\n")
    .map((line) => line.trim().split(/\s+/).map(Number))
    .filter((fields) => fields.length === 3)
    .map(([first = 0, , size = 0]) => ({ first, size }));
}
