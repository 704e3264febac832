/** Checks whether another program listens on a port of the host. */
import { createSocket } from "node:dgram";
import { opendir, readdir, readFile, readlink } from "node:fs/promises";
import { createServer } from "node:net";
import { type HostPort, portName } from "../plan/index.ts";
import { output } from "./command.ts";
import { NetworkError } from "./errors.ts";

/** Tasks of one service have one port: two that are made at once must not find each other's look at it. */
let last: Promise<unknown> = Promise.resolve();

/** @throws NetworkError port-taken: another program has it, or it cannot be used */
export async function checkPort(port: HostPort): Promise<void> {
  const done = last.then(() => (port.protocol === "tcp" ? listen(port) : bind(port)));
  last = done.catch(() => {});
  try {
    await done;
  } catch (error) {
    // Outside of the chain: who has the port is only for the message, and the search for it takes its time.
    throw await refusal(port, error as NodeJS.ErrnoException);
  }
}

async function refusal(port: HostPort, error: NodeJS.ErrnoException): Promise<NetworkError> {
  const { code } = error;
  const message =
    code === "EADDRINUSE"
      ? `is taken by a program that is not of this engine${await named(port)}`
      : `cannot be used: ${code ?? error.message}`;
  return new NetworkError("port-taken", `the port ${portName(port)} of the host ${message}`, { cause: error });
}

/** ": NAME (pid N)"; empty if nobody is found, because it has ended, is in another namespace of processes, or is not found in time. */
async function named(port: HostPort): Promise<string> {
  const holder = await holderOf(port).catch(() => undefined);
  return holder === undefined ? "" : `: ${holder.name} (pid ${holder.pid})`;
}

const ANY = "0.0.0.0";

function listen({ port, address = ANY }: HostPort): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen({ port, host: address, exclusive: true }, () => server.close(() => resolve()));
  });
}

function bind({ port, address = ANY }: HostPort): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = createSocket(address.includes(":") ? "udp6" : "udp4");
    socket.once("error", (error) => {
      socket.close();
      reject(error);
    });
    socket.bind({ port, address, exclusive: true }, () => socket.close(resolve));
  });
}

// Checks interfaces of the host on which those of tasks are to be made. Plugins do not name an
// interface that they miss.

/** @throws NetworkError no-interface: the host has no such interface; program-missing, program-failed */
export async function checkInterface(name: string, timeoutMs: number): Promise<void> {
  const links = await output("ip", ["-o", "link", "show"], timeoutMs);
  const names = links.split("\n").map((line) => /^\d+: ([^:@]+)/.exec(line)?.[1]);
  if (!names.includes(name)) throw new NetworkError("no-interface", `the host has no interface ${name}`);
}

/** Which program of the host has a port. */
interface Holder {
  readonly name: string;
  readonly pid: number;
}

/** Of a socket that listens: TCP_LISTEN, and what udp(7) has for one that is not connected. Source: include/net/tcp_states.h */
const LISTENING = { tcp: "0A", udp: "07" } as const;

type Port = Pick<HostPort, "port" | "protocol">;

/** Inodes of the sockets that have the port, from a file like /proc/net/tcp. Pure. */
export function inodesIn(table: string, { port, protocol }: Port): string[] {
  const end = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  return table.split("\n").flatMap((line) => {
    const [, local = "", , state, , , , , , inode = "0"] = line.trim().split(/ +/);
    return local.endsWith(end) && state === LISTENING[protocol] && inode !== "0" ? [inode] : [];
  });
}

/** A program may have hundreds of thousands of descriptors, and the message is not worth minutes. */
const SEARCH_MS = 1_000;
/** Names that are read from a directory together. */
const NAMES_AT_ONCE = 128;

/**
 * The first process that is found with one of its sockets. It may have ended by now: this is for a message. undefined: there is none, or it is not found within
 * `searchMs` milliseconds. @throws the errors of reading /proc
 */
export async function holderOf(port: Port, searchMs = SEARCH_MS): Promise<Holder | undefined> {
  const latest = performance.now() + searchMs;
  const tables = await Promise.all(["", "6"].map((six) => readFile(`/proc/net/${port.protocol}${six}`, "utf8").catch(() => "")));
  const links = new Set(tables.flatMap((table) => inodesIn(table, port)).map((inode) => `socket:[${inode}]`));
  if (links.size === 0) return undefined;
  for (const pid of (await readdir("/proc")).filter((name) => /^\d+$/.test(name))) {
    if (performance.now() > latest) return undefined;
    // A process may end meanwhile.
    if (await hasOne(`/proc/${pid}/fd`, links, latest).catch(() => false))
      return { name: (await readFile(`/proc/${pid}/comm`, "utf8")).trim(), pid: Number(pid) };
  }
  return undefined;
}

/** Whether a link of the directory is one of these. @param latest when the search ends, by performance.now() */
async function hasOne(directory: string, links: ReadonlySet<string>, latest: number): Promise<boolean> {
  for await (const { name } of await opendir(directory, { bufferSize: NAMES_AT_ONCE })) {
    if (performance.now() > latest) return false;
    if (links.has(await readlink(`${directory}/${name}`).catch(() => ""))) return true;
  }
  return false;
}
