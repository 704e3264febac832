/** The two sockets of the daemon. The mode and group of each decide who may connect. */
import { chmodSync, chownSync, lstatSync, readFileSync, rmSync } from "node:fs";
import type { Server } from "node:http";
import { connect } from "node:net";
import { makeDirectories } from "../engine/index.ts";

export interface SocketFile {
  readonly path: string;
  readonly mode: number;
  /** Group of the socket. If it is missing, or the host has no such group: the group of the daemon. */
  readonly group: string | undefined;
}

/** Everyone may enter the directory, because each socket has a mode of its own. */
const DIRECTORY_MODE = 0o755;

export class SocketInUseError extends Error {
  override readonly name = "SocketInUseError";
  readonly code = "socket-in-use";
}

/**
 * Listens on a unix socket. Replaces the socket of a daemon that was killed, but not one that accepts connections.
 * @throws SocketInUseError; Error: the path is a file of another type
 */
export async function listenOn(server: Server, { path, mode, group }: SocketFile): Promise<void> {
  await removeLeftOver(path);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    // The umask of the daemon is 077, so that no other user can connect before the mode is set.
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
  makeDirectories(directory);
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

/** Id of a group of the host, from group(5). */
function groupId(name: string): number | undefined {
  const line = readFileSync("/etc/group", "utf8")
    .split("\n")
    .find((entry) => entry.startsWith(`${name}:`));
  const gid = Number(line?.split(":")[2]);
  return line !== undefined && Number.isInteger(gid) ? gid : undefined;
}
