/** Which program of the host has a port. */
import { readdir, readFile, readlink } from "node:fs/promises";
import type { HostPort } from "../plan/index.ts";

export interface Holder {
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

/** The first process that is found with one of its sockets. It may have ended by now: this is for a message. @throws the errors of reading /proc */
export async function holderOf(port: Port): Promise<Holder | undefined> {
  const tables = await Promise.all(["", "6"].map((six) => readFile(`/proc/net/${port.protocol}${six}`, "utf8").catch(() => "")));
  const links = new Set(tables.flatMap((table) => inodesIn(table, port)).map((inode) => `socket:[${inode}]`));
  if (links.size === 0) return undefined;
  for (const pid of (await readdir("/proc")).filter((name) => /^\d+$/.test(name))) {
    // A process may end meanwhile.
    for (const fd of await readdir(`/proc/${pid}/fd`).catch(() => []))
      if (links.has(await readlink(`/proc/${pid}/fd/${fd}`).catch(() => "")))
        return { name: (await readFile(`/proc/${pid}/comm`, "utf8")).trim(), pid: Number(pid) };
  }
  return undefined;
}
