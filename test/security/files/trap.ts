/** Attacks that lie in wait: a prepared root filesystem, and a runtime that makes a container of it in each way it has. */
import { execFileSync, spawn } from "node:child_process";
import { closeSync, constants, copyFileSync, mkdirSync, openSync, readSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import type { Result } from "../../support/call.ts";
import type { Config } from "../../support/config.ts";
import { program } from "../../support/programs.ts";
import { escaped, held, type Outcome } from "../attack.ts";
import { eventually, type Subject, textOf } from "../subject.ts";
import { SECRET, type Victim, victimOf } from "./victim.ts";

/** How the helper does it where the newer system calls are refused. Peers are attacked in the first way only. */
export const WAYS = {
  openat2: undefined,
  "component walk": "openat2",
  "mount(2)": "open_tree,move_mount,fsopen,fsconfig,fsmount,mount_setattr,fspick",
} as const;
export type Way = keyof typeof WAYS;

const RESOLVING: readonly Way[] = ["openat2", "component walk"];
export const MOUNTING: readonly Way[] = ["openat2", "component walk", "mount(2)"];

export interface AttackContext {
  readonly subject: Subject;
  readonly way: Way;
  readonly rootfs: string;
  readonly victim: Victim;
  /** /proc/self/mountinfo of the container's mount namespace once its mounts are made; "" if it has not come so far. */
  readonly mountinfo: () => string;
}

export interface Trap {
  /** One word where an attack has several. */
  readonly name: string;
  /** The attacker prepares the root filesystem. */
  readonly lay?: (context: AttackContext) => unknown;
  /** What the caller, who means no harm, asks for. */
  readonly change?: (config: Config, context: AttackContext) => unknown;
  /** The container is made, with a terminal whose other end comes to a socket, and not started. */
  readonly terminal?: boolean;
  /** Of create or run. */
  readonly flags?: readonly string[];
  /** Words before the command: a program that starts the runtime. */
  readonly through?: (context: AttackContext) => readonly string[];
  /** Of the container; it may print SECRET to tell that it got something. */
  readonly command?: string;
  readonly env?: (context: AttackContext) => Readonly<Record<string, string>>;
  /** What the attacker got beside changes of the victim, mounts over it and its secret; "" if nothing. */
  readonly got?: (context: AttackContext, result: Result) => string;
  readonly ways?: readonly Way[];
}

/** A symlink at this path of the root filesystem, in the place of whatever is there. */
export function lay(rootfs: string, path: string, text: string): void {
  const place = join(rootfs, path);
  rmSync(place, { recursive: true, force: true });
  mkdirSync(dirname(place), { recursive: true });
  symlinkSync(text, place);
}

/** A file with this text at this path of the root filesystem, in the place of whatever is there. */
export function layFile(rootfs: string, path: string, text: string): void {
  const place = join(rootfs, path);
  rmSync(place, { recursive: true, force: true });
  mkdirSync(dirname(place), { recursive: true });
  writeFileSync(place, text);
}

const opened = new Set<string>();

/** Whether somebody has it open for reading, who goes on then. */
function hasReader(fifo: string): boolean {
  try {
    // ENXIO if not.
    closeSync(openSync(fifo, constants.O_WRONLY | constants.O_NONBLOCK));
    return true;
  } catch {
    return false;
  }
}

/** The same for writing. */
function hasWriter(fifo: string): boolean {
  const fd = openSync(fifo, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    // The end of the file if not, EAGAIN if nothing is written yet.
    return readSync(fd, Buffer.alloc(1)) > 0;
  } catch {
    return true;
  } finally {
    closeSync(fd);
  }
}

/** A FIFO at this path of the root filesystem, whose other end is tried all the time. */
export function layFifo({ rootfs, subject }: AttackContext, path: string): void {
  const place = join(rootfs, path);
  rmSync(place, { force: true });
  execFileSync("mkfifo", [place]);
  const knock = () => {
    if (hasReader(place) || hasWriter(place)) opened.add(rootfs);
  };
  const timer = setInterval(knock, 5);
  subject.cleanup(() => clearInterval(timer));
}

/** For `Trap.got`: somebody has opened it. */
export const fifoOpened = ({ rootfs }: AttackContext) => (opened.has(rootfs) ? "the FIFO was opened" : "");

/** The text of a link at this path of the root filesystem that leads to the victim from there by `..` alone. */
export function upwards({ rootfs }: AttackContext, path: string, target: string): string {
  return relative(dirname(join(rootfs, path)), target);
}

export function bind(source: string, destination: string, ...options: string[]) {
  return { destination, type: "bind", source, options: ["bind", ...options] };
}

/** No mount at or below these destinations: the image's own directories are there. */
export function without(config: Config, ...places: string[]): void {
  config.mounts = config.mounts.filter(({ destination }) => !places.some((at) => `${destination}/`.startsWith(`${at}/`)));
}

/** A user namespace, with the same ids: device nodes are bound then, and sources opened before. */
export function inUserNamespace(config: Config): void {
  const same = [{ containerID: 0, hostID: 0, size: 65536 }];
  config.linux.namespaces.push({ type: "user" });
  Object.assign(config.linux, { uidMappings: same, gidMappings: same });
}

/** The image's own /dev, with a devpts of the container in it. */
export function imagesDev(config: Config): void {
  without(config, "/dev");
  const options = ["newinstance", "ptmxmode=0666", "mode=0620"];
  config.mounts.push({ destination: "/dev/pts", type: "devpts", source: "devpts", options });
}

/** With fewer rounds than these, the ways take turns. */
const THOROUGH = 1_000;

function waysOf({ isRunt, rounds }: Subject, { ways = RESOLVING }: Trap, index: number): readonly Way[] {
  if (!isRunt) return RESOLVING.slice(0, 1);
  return rounds < THOROUGH ? [ways[index % ways.length]!] : ways;
}

/** A function for `Attack.run`. runt has to hold in every way; without the defence it has to be overcome in every way, too. */
export function traps(list: readonly Trap[]): (subject: Subject) => Promise<Outcome> {
  return async (subject) => {
    const told: string[] = [];
    for (const [index, trap] of list.entries()) {
      for (const way of waysOf(subject, trap, index)) {
        const outcome = await spring(subject, trap, way);
        const detail = `${trap.name}, ${way}: ${outcome.detail}`;
        if (outcome.held === (subject.name === "undefended")) return outcome.held ? held(detail) : escaped(detail);
        // One escape says all about a peer.
        if (!subject.isRunt && !outcome.held) return escaped(detail);
        told.push(detail);
      }
    }
    const summary = `${told.length} runs; ${told[0]}`;
    return subject.name === "undefended" ? escaped(summary) : held(summary);
  };
}

async function spring(subject: Subject, trap: Trap, way: Way): Promise<{ held: boolean; detail: string }> {
  const victim = victimOf(subject);
  const mounts = join(subject.scratch("seen"), "mountinfo");
  const context: AttackContext = { subject, way, victim, rootfs: smallRootfs(subject), mountinfo: () => textOf(mounts) };
  await trap.lay?.(context);
  const bundle = subject.bundle((config) => {
    config.root = { path: context.rootfs, readonly: false };
    config.process.args = ["/bin/sh", "-c", trap.command ?? "true"];
    config.process.terminal = trap.terminal === true;
    // In the container's mount namespace, before the host is out of sight.
    config["hooks"] = { createContainer: [{ path: "/bin/sh", args: ["sh", "-c", `cat /proc/self/mountinfo >${mounts}`] }] };
    trap.change?.(config, context);
  });
  const result = await attempt(context, trap, bundle);
  const gains = [
    told("the victim has changed: ", victim.changes()),
    told("mounted over the victim: ", mountPoints(context, victim.directory)),
    result.stdout.includes(SECRET) ? "the container has the secret" : "",
    result.status === 137 ? "the runtime hangs" : "",
    trap.got?.(context, result) ?? "",
  ].filter((gain) => gain !== "");
  return gains.length > 0 ? { held: false, detail: gains.join("; ") } : { held: true, detail: ending(result) };
}

const told = (what: string, text: string) => (text === "" ? "" : what + text);

const APPLETS = ["sh", "cat", "echo", "head", "ln", "ls", "mv", "sleep", "true"];

/** Busybox and little more: a copy of the whole would take longer than the container. */
export function smallRootfs(subject: Subject): string {
  const rootfs = subject.scratch("rootfs");
  for (const path of ["bin", "dev", "etc", "proc", "sys", "tmp", "usr/bin", "var"]) mkdirSync(join(rootfs, path), { recursive: true });
  copyFileSync(join(subject.sharedRootfs, "bin/busybox"), join(rootfs, "bin/busybox"));
  for (const applet of APPLETS) symlinkSync("busybox", join(rootfs, "bin", applet));
  for (const name of ["passwd", "group", "hostname"]) copyFileSync(join(subject.sharedRootfs, "etc", name), join(rootfs, "etc", name));
  return rootfs;
}

async function attempt({ subject, way, ...context }: AttackContext, trap: Trap, bundle: string): Promise<Result> {
  const refuse = WAYS[way];
  const verb = trap.terminal ? ["create", "--console-socket", await consoleSocket(subject)] : ["run"];
  return await subject.call([...verb, ...(trap.flags ?? []), "-b", bundle, subject.id()], {
    ...(refuse === undefined ? {} : { refuse }),
    ...(trap.env ? { env: trap.env({ subject, way, ...context }) } : {}),
    through: trap.through?.({ subject, way, ...context }) ?? [],
  });
}

/** A socket that takes one terminal. */
export async function consoleSocket(subject: Subject): Promise<string> {
  const directory = subject.scratch("console");
  const [socket, output] = [join(directory, "socket"), join(directory, "output")];
  const fd = openSync(output, "w");
  const receiver = spawn(program("receive-console"), [socket], { stdio: ["ignore", fd, "ignore"] });
  closeSync(fd);
  subject.cleanup(() => void receiver.kill("SIGKILL"));
  await eventually(() => textOf(output) !== "", "the console's receiver");
  return socket;
}

/** Where in this directory of the host the container has mounts. */
export function mountPoints({ mountinfo }: Pick<AttackContext, "mountinfo">, directory: string): string {
  return mountinfo()
    .split("\n")
    .map((line) => line.split(" ")[4] ?? "")
    .filter((point) => `${point}/`.startsWith(`${directory}/`))
    .join(", ");
}

function ending({ status, stderr }: Result): string {
  const error = stderr.trim().split("\n").at(-1);
  return status === 0 ? "the container ran, and nothing came of it" : `status ${status}: ${error}`;
}
