/** Programs in the place of the daemon, at a unix socket, and clients that ask them. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Program } from "./client-programs.ts";

export interface Told {
  readonly status: number | NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Run {
  readonly input?: string | Uint8Array;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** Runs a program to its end. */
export function told([program, ...first]: Program, words: readonly string[], { input, env, cwd }: Run = {}): Promise<Told> {
  const child = spawn(program, [...first, ...words], { env: { PATH: process.env["PATH"], ...env }, cwd });
  const texts = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (chunk) => {
      texts[name] += chunk;
    });
  }
  // It may end without having read it.
  child.stdin.on("error", () => {}).end(input);
  return new Promise((resolve) => child.once("close", (status, signal) => resolve({ status: signal ?? status, ...texts })));
}

function directory(): string {
  const made = mkdtempSync(join(tmpdir(), "runt-answering-"));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

async function listening<S extends Server>(server: S, stop: () => void): Promise<string> {
  const path = join(directory(), "socket");
  await new Promise<void>((resolve) => server.listen(path, resolve));
  onTestFinished(() => {
    stop();
    server.close();
  });
  return path;
}

/** Answers each request of HTTP; `onConnection` is told of each connection. Returns the path of its socket. */
export function answering(
  answer: (request: IncomingMessage, response: ServerResponse, body: string) => void,
  onConnection: () => void = () => {},
): Promise<string> {
  const server = createHttpServer(async (request, response) => {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    answer(request, response, body);
  });
  server.on("connection", onConnection);
  return listening(server, () => server.closeAllConnections());
}

/** Does with each connection what it likes, once something has come. Returns the path of its socket. */
export function talking(talk: (socket: Socket) => void): Promise<string> {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on("error", () => {}).once("close", () => open.delete(socket));
    socket.once("data", () => talk(socket));
  });
  return listening(server, () => {
    for (const socket of open) socket.destroy();
  });
}
