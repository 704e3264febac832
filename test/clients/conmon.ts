/**
 * conmon, the monitor of Podman and CRI-O: one call that makes a container or a process, with the runtime's arguments of its caller. It
 * reads what the runtime says about a failure from the stderr pipe, at once and at most 8 KiB; the pid file is read right after the runtime has ended.
 */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { RUNTIME } from "../support/harness.ts";
import { type Client, type ConsoleSocket, type End, strictPid } from "./client.ts";

/** The part of a message that conmon would read. */
const MESSAGE_BYTES = 8192;

export interface ConmonOptions {
  /** Words of every --runtime-arg. */
  readonly runtimeArguments: readonly string[];
  /** Podman's or CRI-O's directory of the container: bundle and current directory. */
  readonly directory: string;
  /** Descriptors 3, 4, ... of the user, handed over by --preserve-fds. */
  readonly preserved?: readonly End[];
  /** Sockets of socket activation, handed over by LISTEN_FDS. */
  readonly listening?: readonly End[];
  readonly console?: ConsoleSocket;
  readonly stdin?: End;
  /** More words before the id. */
  readonly options?: readonly string[];
}

export interface Conmon {
  readonly pid: number;
  readonly stdout: End;
  readonly stderr: End;
}

/** @throws Error with the runtime's words */
export async function conmonCreate(client: Client, id: string, conmon: ConmonOptions): Promise<Conmon> {
  const pidFile = join(conmon.directory, "pidfile");
  const { console, options = [] } = conmon;
  const words = ["create", "--bundle", conmon.directory, "--pid-file", pidFile, ...options];
  return start(client, conmon, pidFile, [...words, ...(console ? ["--console-socket", console.path] : []), id]);
}

/** `document`: the file for --process. @throws Error with the runtime's words */
export async function conmonExec(client: Client, id: string, document: string, conmon: ConmonOptions): Promise<Conmon> {
  const pidFile = join(conmon.directory, `${id}.exec`);
  rmSync(pidFile, { force: true });
  const { console, preserved = [], options = [] } = conmon;
  const words = ["exec", "--pid-file", pidFile, "--process", document, "--detach", ...options];
  if (preserved.length > 0) words.push("--preserve-fds", String(preserved.length));
  return start(client, conmon, pidFile, [...words, ...(console ? ["--tty", "--console-socket", console.path] : []), id]);
}

async function start(client: Client, conmon: ConmonOptions, pidFile: string, words: readonly string[]): Promise<Conmon> {
  const { runtimeArguments, directory, preserved = [], listening = [], console, stdin = "null" } = conmon;
  const [stdout, stderr] = [client.pipe(), client.pipe()];
  const own = client.pipe();
  // With a terminal only stderr leads anywhere. conmon's own pipe lies behind the user's descriptors; its copy is close-on-exec.
  const stdio = console ? (["null", "null", stderr] as const) : ([stdin, stdout, stderr] as const);
  const started = await client.start([RUNTIME, ...runtimeArguments, ...words], {
    stdio: [...stdio, ...preserved, ...listening],
    cwd: directory,
    env: {
      ...environment(3 + preserved.length),
      ...(listening.length > 0 ? { LISTEN_FDS: String(listening.length), LISTEN_PID: "1" } : {}),
    },
    listenPid: listening.length > 0,
  });
  const status = await started.status;
  own.close();
  // conmon's newer versions look at the pid file only: there may be none after a failure.
  if (!existsSync(pidFile)) {
    await stderr.shows(/./);
    throw new Error(`container create failed: ${stderr.text().slice(0, MESSAGE_BYTES)}`);
  }
  if (status !== 0) throw new Error(`a pid file in spite of status ${status}: ${stderr.text()}`);
  return { pid: strictPid(readFileSync(pidFile, "utf8")), stdout, stderr };
}

function environment(pipe: number): Readonly<Record<string, string>> {
  return {
    PATH: process.env["PATH"] ?? "",
    _OCI_SYNCPIPE: String(pipe),
    _OCI_STARTPIPE: String(pipe + 1),
    _OCI_ATTACHPIPE: String(pipe + 2),
  };
}
