/** What a way out needs of the host: its own addresses, its resolver, programs, and ports for datagrams. All are of the network namespace of this process. */
import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { accessSync, constants, lstatSync, readFileSync, statSync } from "node:fs";
import { isIPv4 } from "node:net";
import { join } from "node:path";
import { packageOf } from "../../../node/index.ts";
import { ExecutorError } from "../../errors.ts";
import { rootfsOf } from "../../launch/bundle.ts";
import type { LaunchCommand } from "../../launch/command.ts";

const TUN = "/dev/net/tun";

/** PATH, extended by the directories of administration programs, which not every user has in it. */
export function searchPath(): string {
  return [process.env["PATH"] ?? "/usr/bin:/bin", "/usr/sbin", "/sbin"].join(":");
}

/** @throws ExecutorError invalid-argument: boxes of this launch cannot have a way out on this host, and why */
export function checkHost(launch: LaunchCommand): void {
  const has = namespacesOf(launch);
  for (const type of NAMESPACES)
    if (!has.includes(type)) refuse(`the template needs a ${type} namespace of its own, as that of sandbox() has`);
  if (process.geteuid?.() !== 0) refuse("outbound needs root: the namespaces of a container that waits are open to root only");
  for (const program of ["pasta", "nft", "nsenter"])
    if (!isInstalled(program)) refuse(`outbound needs the program ${program}: it is in the package ${packageOf(program)}`);
  const mode = statSync(TUN, { throwIfNoEntry: false })?.mode;
  if (mode === undefined) refuse(`outbound needs ${TUN}, which is not there: load the kernel module tun`);
  // pasta runs as a user who owns nothing.
  if ((mode & 0o006) !== 0o006) refuse(`outbound needs ${TUN} to be open to all users, as udev makes it: chmod 666 ${TUN}`);
  const resolvConf = join(rootfsOf(launch), "etc/resolv.conf");
  if (lstatSync(resolvConf, { throwIfNoEntry: false })?.isFile() !== true)
    refuse(`outbound mounts a file over /etc/resolv.conf: make ${resolvConf} an ordinary file, which may be empty`);
}

const NAMESPACES = ["user", "pid", "network", "mount"];

/** Types of those that each of its containers has for itself alone. */
function namespacesOf(launch: LaunchCommand): string[] {
  if (!("config" in launch) || launch.namespaces !== undefined || launch.userNamespace !== undefined) return [];
  const { linux } = launch.config as {
    readonly linux?: { readonly namespaces?: readonly { readonly type: string; readonly path?: string }[] };
  };
  return (linux?.namespaces ?? []).filter(({ path }) => path === undefined).map(({ type }) => type);
}

function isInstalled(program: string): boolean {
  return searchPath()
    .split(":")
    .some((directory) => {
      try {
        accessSync(join(directory, program), constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

/** Whether pasta finds a resolver to ask. It reads the file in this way: one blank, and nothing behind the address. Source: passt, conf.c, get_dns. */
export function hasResolver(text = readIfThere("/etc/resolv.conf")): boolean {
  return [...text.matchAll(/^nameserver (\S+)$/gm)].some(([, address]) => isIPv4(address!));
}

/**
 * Every IPv4 address at which this host is reached, and those of its broadcasts: also of interfaces that are down, and ranges that a route of the type local has. Source: the
 * kernel's fib_trie.c, fib_trie_seq_show.
 */
export function ownAddresses(text = readFileSync("/proc/net/fib_trie", "utf8")): string[] {
  const found = new Set<string>();
  let address = "";
  for (const line of text.split("\n")) {
    address = /^ *\|-- (\S+)$/.exec(line)?.[1] ?? address;
    const length = /^ *\/(\d+) \S+ (?:LOCAL|BROADCAST)/.exec(line)?.[1];
    if (length !== undefined && isIPv4(address)) found.add(`${address}/${length}`);
  }
  return [...found];
}

/** Ports of datagrams on the host, of which one box has some and no other box has any. */
export interface Ports {
  readonly range: readonly [number, number];
  /** Gives them back. */
  close(): void;
}

/** IANA's dynamic ports: no service has one by its name. Each box has a group, and its first port is what this process holds it by. */
const FIRST_PORT = 49_152;
const GROUP = 32;
const GROUPS = (65_536 - FIRST_PORT) / GROUP;

/**
 * pasta sends datagrams from the port that the box has chosen, and shares it with every other program that lets it (SO_REUSEADDR). Without ports of its own, a box could get
 * answers that are for another box. The kernel gives the first port of a group to one process alone. @throws ExecutorError busy
 */
export async function takePorts(): Promise<Ports> {
  const used = usedPorts();
  const start = Math.floor(Math.random() * GROUPS);
  for (let at = 0; at < GROUPS; at++) {
    const first = FIRST_PORT + ((start + at) % GROUPS) * GROUP;
    if (used.some((port) => first <= port && port < first + GROUP)) continue;
    const socket = await bound(first);
    if (socket !== undefined) return { range: [first + 1, first + GROUP - 1], close: () => socket.close() };
  }
  throw new ExecutorError("busy", `network: no ${GROUP} ports for datagrams are free together above ${FIRST_PORT} on this host`);
}

async function bound(port: number): Promise<Socket | undefined> {
  const socket = createSocket({ type: "udp4", reuseAddr: false });
  try {
    const listening = once(socket, "listening");
    socket.bind({ port, address: "0.0.0.0", exclusive: true });
    await listening;
    return socket.unref();
  } catch {
    // Another program has it.
    socket.close();
    return undefined;
  }
}

/** Of sockets of UDP. */
function usedPorts(): number[] {
  return ["udp", "udp6"].flatMap((name) =>
    [...readIfThere(`/proc/net/${name}`).matchAll(/^ *\d+: [0-9A-F]+:([0-9A-F]{4}) /gm)].map(([, port]) => Number.parseInt(port!, 16)),
  );
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function refuse(reason: string): never {
  throw new ExecutorError("invalid-argument", `network: ${reason}`, { field: "network" });
}
