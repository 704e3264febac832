/** start: let init go on past exec.fifo. */
import { RuntError, WORDS } from "../errors/index.ts";
import * as host from "../host/index.ts";
import { fifoPath } from "../plan/index.ts";
import { containerDirectory, lock, readRecord } from "../state/index.ts";
import type { RuntimeOptions } from "./options.ts";
import { deriveStatus } from "./status.ts";

/** execve itself takes a fraction of a millisecond; this bounds a stuck filesystem. */
const EXEC_TIMEOUT_MS = 10_000;

export function start({ root }: RuntimeOptions, id: string): void {
  readRecord(root, id);
  const directory = containerDirectory(root, id);
  lock(directory);
  const record = readRecord(root, id);
  const status = deriveStatus(root, record);
  if (status === "stopped") throw new RuntError("wrong-status", WORDS.startStopped);
  if (status !== "created") throw new RuntError("wrong-status", WORDS.alreadyRunning);
  if (!record.startable)
    throw new RuntError("wrong-status", "cannot start a container whose config.json has no process", { pointer: "/process" });
  release(fifoPath(directory));
}

/** init holds the fifo open for reading until execve, so the write end reports an error exactly when the program runs. */
function release(path: string): void {
  let fd: number;
  try {
    fd = host.open(path, host.O.WRONLY | host.O.NONBLOCK);
  } catch (error) {
    if (host.isErrno(error, "ENXIO")) throw new RuntError("wrong-status", WORDS.startStopped);
    throw error;
  }
  host.write(fd, "\0");
  host.poll([fd], [0], EXEC_TIMEOUT_MS);
  host.unlink(path);
  host.close(fd);
}
