/** The two sockets of the daemon: who may connect is decided by the mode and the group of the file. */
import { chmodSync, chownSync, lstatSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import type { Server } from "node:http";
import { connect } from "node:net";

export interface SocketFile {
  readonly path: string;
  readonly mode: number;
  /** It gets this group if the host has it. undefined, and else: the daemon's. */
  readonly group: string | undefined;
}

/** Everyone may enter the directory; the files in it say who may connect. */
const DIRECTORY_MODE = 0o755;

export class SocketInUseError extends Error {
  override readonly name = "SocketInUseError";
  readonly code = "socket-in-use";
}

/**
 * Listen. A socket that a killed daemon has left is replaced; one where somebody answers is not.
 * @throws SocketInUseError; Error: there is a file of another kind
 */
export async function listenOn(server: Server, { path, mode, group }: SocketFile): Promise<void> {
  await removeLeftOver(path);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    // The umask of the daemon is 077: until the next lines nobody else may connect.
    server.listen(path, () => {
      server.off("error", reject);
      resolve();
    });
  });
  const gid = group === undefined ? undefined : groupId(group);
  if (gid !== undefined) chownSync(path, -1, gid);
  chmodSync(path, mode);
}

export function makeSocketDirectory(directory: string): void {
  mkdirSync(directory, { recursive: true });
  chmodSync(directory, DIRECTORY_MODE);
}

async function removeLeftOver(path: string): Promise<void> {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isSocket()) throw new Error(`${path} is no socket: it is left alone`);
  if (await answers(path)) throw new SocketInUseError(`${path}: another daemon answers there`);
  rmSync(path);
}

function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}

/** From group(5) of the host. */
function groupId(name: string): number | undefined {
  const line = readFileSync("/etc/group", "utf8")
    .split("\n")
    .find((entry) => entry.startsWith(`${name}:`));
  const gid = Number(line?.split(":")[2]);
  return line !== undefined && Number.isInteger(gid) ? gid : undefined;
}
