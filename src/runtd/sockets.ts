/** The two sockets of the daemon. The mode and group of each decide who may connect. */
import { chmodSync, chownSync, lstatSync, readFileSync, renameSync, rmSync } from "node:fs";
import type { Server } from "node:http";
import { connect, type ListenOptions } from "node:net";
import { makeDirectories } from "../engine/index.ts";
import type { PassedSocket } from "./activation.ts";

export interface SocketFile {
  readonly path: string;
  readonly mode: number;
  /** Group of the socket. If it is missing, or the host has no such group: the group of the daemon. */
  readonly group: string | undefined;
}

/** Everyone may enter the directory, because each socket has a mode of its own. */
const DIRECTORY_MODE = 0o755;
/** Suffix of a socket that is being made. It is short, because the path of a socket has at most 107 bytes. */
const MAKING = "~";

class SocketInUseError extends Error {
  override readonly name = "SocketInUseError";
  readonly code = "socket-in-use";
}

/** Removes the socket, unless its path belongs to the socket of a later daemon by now. */
export type RemoveSocket = () => void;

/**
 * Listens on a unix socket. Replaces the socket of a daemon that was killed, but not one at which a process listens.
 * @throws SocketInUseError; Error: the path is a file of another type
 */
export async function listenOn(server: Server, { path, mode, group }: SocketFile): Promise<RemoveSocket> {
  await removeLeftOver(path);
  // When a server closes, Node removes the path at which it listened, whatever is there by then. Therefore it listens at a temporary path, and the
  // socket is renamed.
  const making = `${path}${MAKING}`;
  rmSync(making, { force: true });
  // The umask of the daemon is 077, so that no other user can connect before the mode is set.
  await listening(server, { path: making });
  const gid = group === undefined ? undefined : groupId(group);
  if (gid !== undefined) chownSync(making, -1, gid);
  chmodSync(making, mode);
  const { dev, ino } = lstatSync(making);
  renameSync(making, path);
  return () => {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found?.dev === dev && found.ino === ino) rmSync(path);
  };
}

export interface Listening {
  /** Path of the socket, for the log. */
  readonly place: string;
  readonly remove: RemoveSocket;
}

/**
 * Listens on a socket that systemd has passed, and otherwise on one of its own.
 * @throws the errors of listenOn
 */
export async function listenAt(server: Server, file: SocketFile, passed: PassedSocket | undefined): Promise<Listening> {
  if (passed === undefined) return { place: file.path, remove: await listenOn(server, file) };
  await listening(server, { fd: passed.descriptor });
  // It is systemd's, and clients wait there for the next daemon.
  return { place: passed.path, remove: () => {} };
}

/** @throws the error of listen(2) */
export function listening(server: Server, at: ListenOptions & { readonly fd?: number }): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(at, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

export function makeSocketDirectory(directory: string): void {
  makeDirectories(directory);
  chmodSync(directory, DIRECTORY_MODE);
}

async function removeLeftOver(path: string): Promise<void> {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isSocket()) throw new Error(`${path} is no socket: it is left alone`);
  if (await isListenedTo(path)) throw new SocketInUseError(`${path}: another daemon answers there`);
}

/**
 * Whether a process listens. A stopped daemon accepts no connections but still listens: if its queue is full, connecting fails with another error
 * than for a socket without a listener.
 */
function isListenedTo(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", ({ code }: NodeJS.ErrnoException) => resolve(code !== "ECONNREFUSED" && code !== "ENOENT"));
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
