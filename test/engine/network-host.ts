/** A host of its own for each test of networks: a namespace with loopback, in which the daemon is. No rule and no interface of theirs is in that of this machine. */
import { execFile, spawn } from "node:child_process";
import { existsSync, readdirSync, readlinkSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach } from "vitest";
import { runSync } from "../support/run-sync.ts";
import { namesBelow } from "./names-below.ts";
import { TEST_PLUGINS } from "./network-plugins.ts";
import { type Daemon, http, type Scene, type SpawnOptions } from "./support.ts";

const run = promisify(execFile);

/** Where the engine writes the rules of the host: a test of what the two have in common has both. */
export const FILTERS = ["nft", "iptables"] as const;
export type Filter = (typeof FILTERS)[number];

export interface NetworkHost {
  /** File of the namespace. */
  readonly path: string;
  daemon(options?: SpawnOptions): Promise<Daemon>;
  /** It boots anew: its interfaces and rules are gone. */
  boot(): void;
  /** stdout of a program that runs on this host. Rejects when it fails. */
  on(...command: string[]): Promise<string>;
  /** Of another namespace of this machine. */
  inside(namespace: string, ...command: string[]): Promise<string>;
  /** Starts a program on this host, until the end of the test. Resolves when it has printed a line. */
  serve(...command: string[]): Promise<() => void>;
  /** Starts a program on this host that ends with its standard input. `end` resolves with what it has printed after its first line, and `text` returns all of it. */
  client(...command: string[]): { readonly text: () => string; readonly end: () => Promise<string> };
  /** Rules and elements of sets of this engine in the packet filter, whichever it uses. */
  rules(): Promise<string[]>;
  /** Interfaces, rules, leases and namespaces of tasks: empty when all is given back. */
  left(): Promise<string[]>;
}

/** To be called inside `describe`, after `useEngine`. */
export function useNetworkHost(scene: Scene, filter?: Filter): NetworkHost {
  const path = join(scene.directory, "host-network");
  let children: (() => void)[] = [];
  const begin = () => {
    writeFileSync(path, "");
    runSync("unshare", [`--net=${path}`, "ip", "link", "set", "lo", "up"]);
  };
  const end = () => runSync("umount", ["--lazy", path]);
  beforeEach(begin);
  afterEach(() => {
    for (const end of children) end();
    children = [];
    end();
  });
  const inside = async (namespace: string, ...command: string[]) => (await run("nsenter", [`--net=${namespace}`, ...command])).stdout;
  const on = (...command: string[]) => inside(path, ...command);
  const rules = async () => {
    const ofIptables = (await on("iptables-save")).split("\n").filter((line) => /name: |CNI-(DN-)?[0-9a-f]{8}|RUNT-/.test(line));
    const tables = (await on("nft", "list", "tables"))
      .split("\n")
      .flatMap((line) => /^table ((?:ip|bridge) runt-\S+)$/.exec(line)?.[1] ?? []);
    // nft lists tables in the order in which they were made. One may be removed meanwhile.
    const lists = await Promise.all(tables.toSorted().map((table) => on("nft", "list", "table", ...table.split(" ")).catch(() => "")));
    return [
      ...ofIptables,
      ...lists.flatMap((text) => text.split("\n").map((line) => line.trim())).filter((line) => line !== "" && line !== "}"),
    ];
  };
  return {
    path,
    inside,
    on,
    boot() {
      end();
      begin();
    },
    rules,
    daemon: (options) => {
      const args = [...(filter === undefined ? [] : ["--packet-filter", filter]), ...(options?.args ?? [])];
      return scene.daemon({ network: path, ...options, args });
    },
    serve: (...command) =>
      new Promise((resolve, reject) => {
        const child = spawn("nsenter", [`--net=${path}`, ...command], { stdio: ["ignore", "pipe", "inherit"] });
        const end = () => void child.kill("SIGKILL");
        children.push(end);
        child.once("error", reject);
        child.once("exit", () => reject(new Error(`${command.join(" ")} has ended`)));
        child.stdout.once("data", () => resolve(end));
      }),
    client(...command) {
      const child = spawn("nsenter", [`--net=${path}`, ...command], { stdio: ["pipe", "pipe", "inherit"] });
      children.push(() => void child.kill("SIGKILL"));
      let text = "";
      child.stdout.on("data", (chunk) => {
        text += chunk;
      });
      const ended = new Promise<string>((resolve, reject) => {
        child.once("error", reject);
        child.once("close", () => resolve(text.slice(text.indexOf("\n") + 1)));
      });
      return {
        text: () => text,
        end() {
          child.stdin.end();
          return ended;
        },
      };
    },
    async left() {
      const links = (await on("ip", "-o", "link")).split("\n").flatMap((line) => /^\d+: ([^:@]+)/.exec(line)?.[1] ?? []);
      const leases = filesBelow(join(scene.stateDir, "network/leases")).filter((name) => /\d+\.\d+\.\d+\.\d+$/.test(name));
      const others = ["attachments", "files", "resolver.json"].flatMap((name) => filesBelow(join(scene.stateDir, "network", name)));
      return [
        ...links.filter((name) => name !== "lo"),
        ...(await rules()),
        ...leases,
        ...others,
        ...filesBelow(join(scene.directory, "run/networks")),
      ];
    },
  };
}

function filesBelow(directory: string): string[] {
  if (existsSync(directory) && !statSync(directory).isDirectory()) return [directory];
  return namesBelow(directory).map((name) => join(directory, name));
}

/** Processes of this machine that are in a network namespace. */
export function processesIn(namespace: string): number[] {
  const wanted = `net:[${statSync(namespace).ino}]`;
  const isIn = (pid: string) => {
    try {
      return readlinkSync(`/proc/${pid}/ns/net`) === wanted;
    } catch {
      return false;
    }
  };
  return readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) && isIn(name) ? [Number(name)] : []));
}

/** Directory with links to the real plugins, and with those of the test in the place of some: text of a script of sh. */
export function pluginsWith(scene: Scene, name: string, scripts: Readonly<Record<string, string>>): string {
  const directory = join(scene.directory, name);
  runSync("cp", ["-rs", TEST_PLUGINS, directory]);
  for (const [plugin, script] of Object.entries(scripts)) {
    runSync("rm", ["-f", join(directory, plugin)]);
    if (script !== "") writeFileSync(join(directory, plugin), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }
  return directory;
}

export async function taskOf(scene: Scene, name: string) {
  return JSON.parse((await http(scene.socket, "GET", `/v1/tasks/${name}`)).text);
}
