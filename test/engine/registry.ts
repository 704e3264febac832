/** A registry on loopback for tests: the real program, and before it a proxy that counts, and that does what a bad one would. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach } from "vitest";
import { PATIENCE_MS } from "../support/patience.ts";
import { until } from "./requests.ts";

export const HAS_REGISTRY = ["skopeo", "umoci", "docker-registry"].every((name) => existsSync(`/usr/bin/${name}`));
export const USER = "u";
export const PASSWORD = "s3cr-et-Pa55";
/** Of it, by crypt(3). */
const HTPASSWD = `${USER}:$2y$05$abcdefghijklmnopqrstuu3RMQw0F9ukWRgBb19N.V4HgKn57sPW.\n`;

/** What it does with a part of an image: sends it; slowly; only its first bytes; another one; or the request back, as an error. */
export type Fault = "none" | "slow" | "truncated" | "wrong" | "echo";

export interface Registry {
  /** HOST:PORT of the proxy. */
  readonly host: string;
  /** What a shell does before the daemon: it is a registry without TLS. */
  readonly before: string;
  fault: Fault;
  /** Requests whose path has this get no answer; "": none has. */
  deafTo: string;
  /** Requests of all kinds, so far. */
  readonly asked: string[];
  /** Parts that were sent at once, at most. */
  readonly mostAtOnce: number;
  /** From a layout: its image, or with `isIndex` all images of its index. Returns the reference. */
  push(layout: string, name: string, isIndex?: boolean): Promise<string>;
  /** Nobody answers any more. */
  stop(): Promise<void>;
}

/** To be called inside `describe`, behind useEngine. Each is stopped after its test. */
export function useRegistries(directory: string): (options?: { readonly hasUsers?: boolean }) => Promise<Registry> {
  let running: Registry[] = [];
  let count = 0;
  afterEach(async () => {
    for (const one of running) await one.stop();
    running = [];
  });
  return async ({ hasUsers = false } = {}) => {
    const one = await startRegistry(join(directory, `registry-${++count}`), hasUsers);
    running.push(one);
    return one;
  };
}

async function startRegistry(directory: string, hasUsers: boolean): Promise<Registry> {
  mkdirSync(directory, { recursive: true });
  const { child, port } = await startProgram(directory, hasUsers);
  const upstream = `127.0.0.1:${port}`;
  const asked: string[] = [];
  let now = 0;
  let most = 0;
  const server = createServer((call, answer) => {
    asked.push(`${call.method} ${call.url}`);
    if (registry.deafTo !== "" && call.url?.includes(registry.deafTo)) return void call.socket.destroy();
    // What a registry says of a part, skopeo does not tell.
    const isPart = call.method === "GET" && (registry.fault === "echo" ? /\/manifests\// : /\/blobs\//).test(call.url ?? "");
    if (!isPart || registry.fault === "none") return forward(call, answer, port);
    most = Math.max(most, ++now);
    answer.once("close", () => now--);
    serveBadly(registry, call, answer, port);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  // skopeo takes the configuration of its user, if there is one.
  const home = join(directory, "home");
  mkdirSync(join(home, ".config/containers"), { recursive: true });
  writeFileSync(join(home, ".config/containers/registries.conf"), `[[registry]]\nlocation = "${host}"\ninsecure = true\n`);
  const registry: Registry = {
    host,
    before: `export HOME=${home}`,
    fault: "none",
    deafTo: "",
    asked,
    get mostAtOnce() {
      return most;
    },
    async push(layout, name, isIndex = false) {
      const auth = hasUsers ? ["--dest-creds", `${USER}:${PASSWORD}`] : [];
      const args = [
        "copy",
        "--quiet",
        ...(isIndex ? ["--all"] : []),
        "--preserve-digests",
        "--dest-tls-verify=false",
        ...auth,
        `oci:${layout}:v1`,
      ];
      await promisify(execFile)("skopeo", [...args, `docker://${upstream}/${name}`]);
      return `docker://${host}/${name}`;
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await ended(child);
    },
  };
  return registry;
}

async function startProgram(directory: string, hasUsers: boolean): Promise<{ readonly child: ChildProcess; readonly port: number }> {
  const [configuration, log, users] = ["config.yml", "log", "htpasswd"].map((name) => join(directory, name)) as [string, string, string];
  writeFileSync(users, HTPASSWD);
  const auth = hasUsers ? { auth: { htpasswd: { realm: "test", path: users } } } : {};
  const storage = { filesystem: { rootdirectory: join(directory, "data") } };
  // JSON is YAML.
  writeFileSync(configuration, JSON.stringify({ version: 0.1, log: { level: "info" }, storage, http: { addr: "127.0.0.1:0" }, ...auth }));
  const child = spawn("docker-registry", ["serve", configuration], { stdio: ["ignore", "ignore", openSync(log, "w")] });
  const port = () => /listening on 127\.0\.0\.1:(\d+)/.exec(readFileSync(log, "utf8"))?.[1];
  await until(
    () => port() !== undefined,
    PATIENCE_MS,
    () => readFileSync(log, "utf8"),
  );
  return { child, port: Number(port()) };
}

function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    child.once("exit", () => resolve());
    child.kill("SIGKILL");
  });
}

function forward(call: IncomingMessage, answer: ServerResponse, port: number): void {
  ask(call, port, (response) => {
    answer.writeHead(response.statusCode!, response.headers);
    response.pipe(answer);
  }).on("error", () => answer.destroy());
}

function ask(call: IncomingMessage, port: number, then: (response: IncomingMessage) => void) {
  const { method, url: path, headers } = call;
  return call.pipe(request({ host: "127.0.0.1", port, method, path, headers }, then));
}

function serveBadly(registry: Registry, call: IncomingMessage, answer: ServerResponse, port: number): void {
  const { fault } = registry;
  if (fault === "echo") {
    const message = `no access with ${call.headers.authorization}`;
    answer.writeHead(403, { "content-type": "application/json" });
    answer.end(JSON.stringify({ errors: [{ code: "DENIED", message }] }));
    return;
  }
  ask(call, port, async (response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    const bytes = Buffer.concat(chunks);
    answer.writeHead(response.statusCode!, response.headers);
    if (fault === "wrong") return void answer.end(bytes.map((byte) => byte ^ 1));
    answer.write(bytes.subarray(0, 1));
    if (fault === "truncated") return void setTimeout(() => answer.destroy(), 50);
    // A byte, and then nothing until it is let go.
    const timer = setInterval(() => {
      if (registry.fault === "slow" && !answer.destroyed) return;
      clearInterval(timer);
      answer.end(bytes.subarray(1));
    }, 20);
  }).on("error", () => answer.destroy());
}
