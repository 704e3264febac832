/** Docker Compose, the program that Compose files are written for: what it makes of a file. It is asked within bounds, because some files let it grow without any. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

/** Where packages put it. */
const USUAL = ["/usr/libexec/docker/cli-plugins", "/usr/lib/docker/cli-plugins", "/usr/local/lib/docker/cli-plugins"];

/** Path of the program: RUNT_COMPOSE, what `make compose-oracle` has fetched, or one that is installed. undefined: there is none. */
export const ORACLE = [
  ...(process.env["RUNT_COMPOSE"] ? [process.env["RUNT_COMPOSE"]] : []),
  new URL("../../build/docker-compose/usr/libexec/docker/cli-plugins/docker-compose", import.meta.url).pathname,
  ...USUAL.map((directory) => `${directory}/docker-compose`),
].find((path) => existsSync(path));

/** In KiB of address space, and in seconds. */
const MOST_MEMORY = 5_000_000;
const MOST_TIME = 20;

export interface Asked {
  readonly files: readonly string[];
  readonly directory: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** "*": all of them. */
  readonly profiles?: readonly string[];
}

/** What both are given, beside the variables of a case. */
export const ENVIRONMENT: Readonly<Record<string, string>> = { HOME: "/root", PATH: "/usr/bin:/bin" };

export type Answer = { readonly model: Model; readonly refused?: undefined } | { readonly refused: string };

type Fields = Readonly<Record<string, unknown>>;

/** The file as Compose has understood it: defaults, variables, other files and short forms are in it. Source: compose-go, types.Project. */
export interface Model {
  readonly name: string;
  readonly services?: Readonly<Record<string, Fields>>;
  readonly networks?: Readonly<Record<string, Fields>>;
  readonly volumes?: Readonly<Record<string, Fields>>;
  readonly secrets?: Readonly<Record<string, Fields>>;
  readonly configs?: Readonly<Record<string, Fields>>;
}

/** @throws Error: the program did not end by itself */
export function asked({ files, directory, environment = {}, profiles = [] }: Asked): Answer {
  const named = [...files.flatMap((file) => ["-f", file]), ...profiles.flatMap((profile) => ["--profile", profile])];
  const bounded = ["-c", `ulimit -v ${MOST_MEMORY}; exec timeout -k 2 ${MOST_TIME} "$@"`, "sh", ORACLE!];
  const { status, stdout, stderr, signal } = spawnSync("/bin/sh", [...bounded, ...named, "config", "--format", "json"], {
    cwd: directory,
    env: { ...ENVIRONMENT, ...environment },
    encoding: "utf8",
    maxBuffer: 2 ** 26,
    // A core of it would be as large as its bound.
    stdio: ["ignore", "pipe", "pipe"],
  });
  if (signal !== null || status === null || status === 124 || status === 137)
    throw new Error(`docker-compose config did not end: ${files}`);
  if (status !== 0) return { refused: stderr.trim() };
  return { model: unescaped(JSON.parse(stdout)) as Model };
}

/** The output is a Compose file: a "$" in it stands twice. */
function unescaped(value: unknown): unknown {
  if (typeof value === "string") return value.replaceAll("$$", "$");
  if (Array.isArray(value)) return value.map(unescaped);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key.replaceAll("$$", "$"), unescaped(one)]));
}
