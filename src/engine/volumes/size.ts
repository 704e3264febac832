/** Measures the size of scratch volumes. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);
/** Milliseconds that one measurement may take. A volume that takes longer is measured again next time. */
const TIMEOUT_MS = 60_000;

/** Bytes on disk, including directories, on one file system only. @throws Error: the message of du(1), or that it took too long */
export async function sizeOnDisk(path: string): Promise<number> {
  const { stdout } = await run("du", ["-s", "-x", "--block-size=1", "--", path], { timeout: TIMEOUT_MS, killSignal: "SIGKILL" }).catch(
    // du exits with 1 if a file was removed during the measurement, but its sum is still valid.
    (error: Error & { readonly stdout?: string }) => {
      if (error.stdout) return { stdout: error.stdout };
      throw error;
    },
  );
  const bytes = Number(/^\d+/.exec(stdout)?.[0] ?? Number.NaN);
  if (Number.isNaN(bytes)) throw new Error(`du says of ${path}: ${stdout.slice(0, 200)}`);
  return bytes;
}
