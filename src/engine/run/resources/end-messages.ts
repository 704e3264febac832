/** End messages of containers. Each incarnation has a file of its own, which the container writes and the engine reads when it has ended. */
import { closeSync, constants, existsSync, fstatSync, openSync, readSync } from "node:fs";
import { dirname } from "node:path";
import { removeOwnFile, writeOwnFile } from "../../../node/index.ts";
import { endOfLog } from "../../logs/index.ts";
import { type ContainerRecord, runtimeId, specOf, type TaskRecord } from "../../model/index.ts";
import type { Incarnation } from "../../plan/index.ts";
import type { EngineLog } from "../log.ts";
import type { Paths } from "../paths.ts";
import { type Contribution, engineMount, makeTaskDirectory, removeTaskDirectory, type TaskResource } from "./resource.ts";

/** Source: Kubernetes, Container.terminationMessagePath: "the final message is truncated by the node if greater than 4096 bytes". */
const LONGEST = 4096;
/** Source: Kubernetes, "Determine the Reason for Pod Failure": "limited to 2048 bytes or 80 lines, whichever is smaller". */
const END_OF_LOG = { lines: 80, bytes: 2048 };

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

export class EndMessages implements TaskResource {
  readonly name = "end-messages";
  readonly #paths: Paths;
  readonly #log: EngineLog;

  constructor(paths: Paths, log: EngineLog) {
    this.#paths = paths;
    this.#log = log;
  }

  /** The container also runs if the file cannot be made. The file of the previous incarnation is kept, older ones are removed. */
  prepare(record: TaskRecord, { container, generation, runtimeId: own }: Incarnation): void {
    if (specOf(record, container)?.endMessage === undefined) return;
    const { id } = record;
    const path = this.#paths.endMessage(id, own);
    try {
      makeTaskDirectory(dirname(path));
      removeOwnFile(this.#paths.endMessage(id, runtimeId(id, container, generation - 2)));
      removeOwnFile(path);
      // Any user of the container may write it, whatever the umask of this process is. The directory is the engine's, so that no other user reaches it.
      writeOwnFile(path, "", 0o666);
    } catch (error) {
      this.#log("error", "end-message-not-made", { task: id, container, message: String(error) });
    }
  }

  contribute(record: TaskRecord, { container, runtimeId: own }: Incarnation): Contribution {
    const path = this.#paths.endMessage(record.id, own);
    const asked = specOf(record, container)?.endMessage;
    return asked !== undefined && existsSync(path) ? { mounts: [engineMount(asked.path, path, "rw")] } : {};
  }

  async forget(task: string): Promise<void> {
    await removeTaskDirectory(this.#paths.endMessages(task));
  }

  /** The message of the last incarnation that has ended, with U+FFFD for what is not UTF-8. undefined: none has ended, or it wrote no message. */
  read(record: TaskRecord, { name, known, generation, exit }: ContainerRecord): string | undefined {
    const asked = specOf(record, name)?.endMessage;
    if (asked === undefined || exit === null) return undefined;
    const ended = runtimeId(record.id, name, known === "STOPPED" ? generation : generation - 1);
    const written = endOfMessage(this.#paths.endMessage(record.id, ended));
    if (written.length > 0) return written.toString();
    const printed = asked.orLog && exit.code !== 0 ? endOfLog(this.#paths.log(record.id, ended), END_OF_LOG) : written;
    return printed.length > 0 ? printed.toString() : undefined;
  }
}

/** The last bytes of the file, if it is a regular one: the container may have replaced it. Empty: there is no file. */
function endOfMessage(path: string): Buffer {
  let fd: number;
  try {
    fd = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return Buffer.from(code === "ENOENT" ? "" : `its message could not be read: ${code}`);
  }
  try {
    const found = fstatSync(fd);
    if (!found.isFile()) return Buffer.from("its message could not be read: it is not a file");
    const bytes = Buffer.alloc(LONGEST);
    return bytes.subarray(0, readSync(fd, bytes, 0, LONGEST, Math.max(0, found.size - LONGEST)));
  } finally {
    closeSync(fd);
  }
}
