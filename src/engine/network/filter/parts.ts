/** Clients of a sticky service are divided into parts, each of which reaches one task. Pure. */
import { createHash } from "node:crypto";
import type { Backend } from "./filter.ts";

/** The most that the match `cluster` of iptables knows. */
export const PARTS = 32;
/** Mixed into the address of the client. Any number, and always the same. */
export const SEED = "0x72756e74";

/** Depends on both, so that parts have different tasks, and each keeps its own when others come and go. */
export function chosenFor(part: number, to: readonly Backend[]): Backend {
  const rank = ({ task }: Backend) => createHash("sha256").update(`${part} ${task}`).digest("hex");
  return to.toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1))[0]!;
}
