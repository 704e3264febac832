/** The last step of a dump: standard streams that are files of the host must be restorable with another file in their place. */
import { isFileKey, OPEN_FILES, openFileModes, replaceableFiles } from "../../criu/index.ts";
import { RuntError } from "../../errors/index.ts";
import * as host from "../../host/index.ts";
import { writeBeside } from "../fresh-file.ts";

const LIMIT = 64 << 20;
/** criu insists on one of the same kind, and finds nothing that it can open again in the place of a FIFO. */
const UNRESTORABLE: Readonly<Record<number, string>> = {
  [host.S.IFDIR]: "a directory",
  [host.S.IFIFO]: "a FIFO",
  [host.S.IFBLK]: "a block device",
};

/** `streams`: by their names. @throws RuntError not-supported when no restore could give one of them, criu for an image that cannot be read */
export function makeReplaceable(imagePath: string, streams: readonly string[]): void {
  const names = new Set(streams.filter(isFileKey));
  const path = `${imagePath}/${OPEN_FILES}`;
  if (names.size === 0 || !host.stat(path)) return;
  try {
    const image = new Uint8Array(host.readBytes(path, LIMIT));
    for (const [name, mode] of openFileModes(image)) {
      const kind = names.has(name) ? UNRESTORABLE[mode & host.S.IFMT] : undefined;
      if (kind !== undefined)
        throw new RuntError("not-supported", `no restore could give the container a standard stream that is ${kind} of the host`);
    }
    const { path: fresh, fd } = writeBeside(path, replaceableFiles(image, names).slice().buffer as ArrayBuffer);
    host.close(fd);
    host.rename(fresh, path);
  } catch (error) {
    if (error instanceof RuntError) throw error;
    throw new RuntError("criu", `${path}: ${error instanceof RangeError ? error.message : host.reason(error)}`, { cause: error });
  }
}
