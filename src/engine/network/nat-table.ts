/** Changes of the host's tables nat and raw by iptables-restore(8). */
import { output } from "./command.ts";

/** All lines, or none. @throws NetworkError program-missing, program-failed */
export async function restoreNat(lines: readonly string[], timeoutMs: number): Promise<void> {
  await restoreTable("nat", lines, timeoutMs);
}

/** All lines, or none. @throws NetworkError program-missing, program-failed */
export async function restoreRaw(lines: readonly string[], timeoutMs: number): Promise<void> {
  await restoreTable("raw", lines, timeoutMs);
}

async function restoreTable(table: string, lines: readonly string[], timeoutMs: number): Promise<void> {
  await output("iptables-restore", ["--noflush", "--wait", "5"], timeoutMs, [`*${table}`, ...lines, "COMMIT", ""].join("\n"));
}
