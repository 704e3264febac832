/** What a document shows below a command, beside what the command says on this host. */
import { TREE } from "./session.ts";

const LEFT_OUT = /^\s*…$/;
/** Of a plan for a hybrid host, where init is cloned into its directory of v2. */
const OF_HYBRID = /\/unified\/|birthplace|process\.clone|mask\.open/;

/** Without digest and numbers, which follow the hierarchies of cgroups that the host has mounted; with the reader's own path. */
function comparable(line: string): string {
  return line
    .replace(/^# sha256:[0-9a-f]{64}, \d+ operations$/, "# digest, operations")
    .replace(/^( [A-Z]+ +| +)\d+ (?=[a-z])/, "$1")
    .replace(/\b\d+ hierarchies\b/, "hierarchies")
    .replaceAll(TREE, "/path/to/runt")
    .replace(/\s+/g, " ");
}

/** Lines that the document shows and that do not come, in this order. Those of cgroups are of a hybrid host. */
export function missingLines(
  shown: readonly string[],
  output: string,
  { isV1, isHybrid }: Readonly<{ isV1: boolean; isHybrid: boolean }>,
): string[] {
  const lines = output.split("\n").map(comparable);
  let at = 0;
  return shown.filter((line) => {
    if (LEFT_OUT.test(line) || (!isV1 && line.includes("cgroup")) || (!isHybrid && OF_HYBRID.test(line))) return false;
    const found = lines.indexOf(comparable(line), at);
    if (found >= 0) at = found + 1;
    return found < 0;
  });
}
