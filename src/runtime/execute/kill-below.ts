/** kill --cgroup: a signal to everything in a cgroup below a container's own, which exec --cgroup has put there. */
import { signalBelow } from "../cgroup/index.ts";
import { RuntError } from "../errors/index.ts";
import { readRecord } from "../state/index.ts";
import { ownerOf, warnLeft } from "./owner.ts";
import { requireEnded } from "./require-ended.ts";

/** The flags of kill. */
interface Flags {
  readonly [name: string]: unknown;
}

/**
 * `--cgroup`: as for exec. Who is there and is not the container's (src/runtime/cgroup/ownership.ts) is left alone, and named in a warning.
 * @throws RuntError usage; id-unknown; cgroup: the container has no such cgroup, or somebody in it does not end
 */
export function killBelow(root: string, id: string, signal: number, { cgroup, all, regex }: Flags): void {
  const wanted = String(cgroup);
  if (all || regex) throw new RuntError("usage", "--cgroup goes with neither --all nor --regex");
  const record = readRecord(root, id);
  if (record.cgroup === undefined) throw new RuntError("cgroup", "the container has no cgroup");
  const left = signalBelow(record.cgroup, ownerOf(record, root), wanted, signal);
  warnLeft(id, left);
  requireEnded(left, `--cgroup ${wanted}: `);
}
