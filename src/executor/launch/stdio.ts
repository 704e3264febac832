/** The container's ends of its standard streams, and the caller's. */
import { closeSync, constants, openSync } from "node:fs";
import { join } from "node:path";
import { TEMPLATE } from "../../shared/protocol/index.ts";
import type { LaunchCommand, Stdio } from "./command.ts";

const { O_APPEND, O_CREAT, O_NONBLOCK, O_RDONLY, O_RDWR, O_WRONLY } = constants;
const STREAMS = ["stdin", "stdout", "stderr"] as const;
export type StreamName = (typeof STREAMS)[number];

/** Streams whose other end is the caller's. */
export function pipesOf(command: LaunchCommand): StreamName[] {
  return STREAMS.filter((name) => stdioOf(command, name) === "pipe");
}

/** "log": a FIFO, too, whose other end is the log pump's. */
function stdioOf({ stdio, pty }: LaunchCommand, name: StreamName): Stdio | "log" {
  // A terminal has one output.
  if (pty && name === "stderr") return "null";
  if (stdio?.log !== undefined && name !== "stdin") return "log";
  return stdio?.[name] ?? (pty ? "pipe" : "null");
}

/** Streams that have a FIFO in the executor's directory. */
export function fifosOf(command: LaunchCommand): StreamName[] {
  return STREAMS.filter((name) => ["pipe", "open", "log"].includes(stdioOf(command, name) as string));
}

/** FIFOs of the executor. */
export function pipePath(directory: string, name: StreamName): string {
  return join(directory, name);
}

/** FIFO that sizes of the executor's own terminal are written into. */
export function sizePath(directory: string): string {
  return join(directory, "size");
}

/** FIFO that the deadline of a template's container is written into. */
export function deadlinePath(directory: string): string {
  return join(directory, "deadline");
}

export function hasDeadline({ annotations }: LaunchCommand): boolean {
  return annotations?.[TEMPLATE] !== undefined;
}

export interface OpenStdio {
  /** For the container. */
  readonly container: readonly [number | "ignore", number | "ignore", number | "ignore"];
  /** The writing end of a stdin that is a pipe: without it the container would read its end. */
  readonly stdin: number | undefined;
  /** Stop being a reader of the container's output. What is in a FIFO stays, for it has a writer until close(). */
  closeReaders(): void;
  /** Close what the container or its monitor holds by then; with `all`, stdin too. */
  close(all: boolean): void;
}

/** @throws when a file cannot be opened; nothing stays open then */
export function openStdio(directory: string, command: LaunchCommand): OpenStdio {
  const opened: number[] = [];
  const readers: number[] = [];
  let stdin: number | undefined;
  const open = (path: string, flags: number): number => {
    const fd = openSync(path, flags, 0o600);
    opened.push(fd);
    return fd;
  };
  const closeReaders = () => {
    for (const fd of readers.splice(0)) closeSync(fd);
  };
  const close = (all: boolean) => {
    closeReaders();
    for (const fd of opened.splice(0)) closeSync(fd);
    if (all && stdin !== undefined) closeSync(stdin);
  };
  const end = (name: StreamName): number | "ignore" => {
    const stdio = stdioOf(command, name);
    if (stdio === "null") return "ignore";
    if (typeof stdio === "object" && "file" in stdio) return open(stdio.file, name === "stdin" ? O_RDONLY : O_WRONLY | O_CREAT | O_APPEND);
    const path = typeof stdio === "object" ? stdio.fifo : pipePath(directory, name);
    // Opening one end of a FIFO waits for the other one: there is one, for a moment.
    readers.push(openSync(path, O_RDWR | O_NONBLOCK));
    if (name === "stdin" && stdio === "pipe") stdin = openSync(path, O_WRONLY | O_NONBLOCK);
    // Who has it open for both never reads its end.
    if (stdio === "open") return open(path, O_RDWR);
    return open(path, name === "stdin" ? O_RDONLY : O_WRONLY);
  };
  try {
    return {
      container: [end("stdin"), end("stdout"), end("stderr")],
      get stdin() {
        return stdin;
      },
      closeReaders,
      close,
    };
  } catch (error) {
    close(true);
    throw error;
  }
}
