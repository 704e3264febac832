/** Asks the host's systemd about units. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { promisify } from "node:util";

const run = promisify(execFile);

export const systemdRuns = existsSync("/run/systemd/system");

/** Properties as `systemctl show` prints them. */
export async function show(unit: string, ...names: readonly string[]): Promise<Record<string, string>> {
  const { stdout } = await run("systemctl", ["show", unit, `--property=${names.join()}`]);
  return Object.fromEntries(
    stdout
      .trim()
      .split("\n")
      .map((line) => line.split(/=(.*)/s, 2)),
  );
}

export async function systemctl(...args: readonly string[]): Promise<string> {
  return (await run("systemctl", [...args])).stdout.trim();
}

/** Names of the units that match, loaded in whatever state. */
export async function units(pattern: string): Promise<string[]> {
  const text = await systemctl("list-units", "--all", "--plain", "--no-legend", pattern);
  return text === "" ? [] : text.split("\n").map((line) => line.split(" ")[0]!);
}
