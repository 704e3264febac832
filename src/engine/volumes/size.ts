/** Measures the size of scratch volumes. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);
/** Time-out of one measurement. A volume that takes longer is tried again next time. */
const TIMEOUT_MS = 60_000;

/** Bytes of the disk, with those of directories, on this file system only. @throws Error: what du(1) says, or that it has taken too long */
export async function sizeOnDisk(path: string): Promise<number> {
  const { stdout } = await run("du", ["-s", "-x", "--block-size=1", "--", path], { timeout: TIMEOUT_MS, killSignal: "SIGKILL" }).catch(
    // Something that was removed meanwhile makes it end with 1; the sum is there all the same.
    (error: Error & { readonly stdout?: string }) => {
      if (error.stdout) return { stdout: error.stdout };
      throw error;
    },
  );
  const bytes = Number(/^\d+/.exec(stdout)?.[0] ?? Number.NaN);
  if (Number.isNaN(bytes)) throw new Error(`du says of ${path}: ${stdout.slice(0, 200)}`);
  return bytes;
}
