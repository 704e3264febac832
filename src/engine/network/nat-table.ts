/** Changes of the host's table nat by iptables-restore(8). */
import { output } from "./command.ts";

/** All lines, or none. @throws NetworkError program-missing, program-failed */
export async function restoreNat(lines: readonly string[], timeoutMs: number): Promise<void> {
  await output("iptables-restore", ["--noflush", "--wait", "5"], timeoutMs, ["*nat", ...lines, "COMMIT", ""].join("\n"));
}
