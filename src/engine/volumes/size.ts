/** Measures the size of scratch volumes. */
import { runProgram } from "../../node/index.ts";

/** Milliseconds that one measurement may take. A volume that takes longer is measured again next time. */
const TIMEOUT_MS = 60_000;

/** Bytes on disk, including directories, on one file system only. @throws Error: the message of du(1), or that it took too long */
export async function sizeOnDisk(path: string): Promise<number> {
  const { stdout, stderr, message } = await runProgram("du", ["-s", "-x", "--block-size=1", "--", path], { timeoutMs: TIMEOUT_MS });
  // du exits with 1 if a file was removed during the measurement, but its sum is still valid.
  if (message !== "" && stdout.length === 0) throw new Error(`${message}: ${stderr.trim()}`);
  const bytes = Number(/^\d+/.exec(stdout.toString())?.[0] ?? Number.NaN);
  if (Number.isNaN(bytes)) throw new Error(`du says of ${path}: ${stdout.toString().slice(0, 200)}`);
  return bytes;
}
