/**
 * Parses the process settings in the configuration of an image (opencontainers/image-spec, config.md; HealthCheck is an extension of Docker). Pure.
 */
import { z } from "zod";
import type { HealthCheck } from "../schema/check.ts";

const NS_PER_MS = 1_000_000;
const LONGEST_TEXT = 1 << 20;
const text = z.string().refine(isText, `is longer than ${LONGEST_TEXT} characters, or has a zero byte in it`);
/** More entries than this are not looked at. */
const MOST_ENTRIES = 10_000;

/** A list or an object with one problem, however many of its entries are wrong. An image can have a million of them. */
const strings = z
  .custom<readonly string[]>((value) => isListOf(value, isText), `is no list of at most ${MOST_ENTRIES} texts`)
  .nullish()
  .transform((value) => value ?? []);
const volumes = z.custom<object>(
  (value) => typeof value === "object" && value !== null && isListOf(Object.keys(value), isText),
  `is no object with at most ${MOST_ENTRIES} paths`,
);
const diffIds = z.custom<readonly string[]>((value) => isListOf(value, isDigest), `is no list of at most ${MOST_ENTRIES} SHA-256 digests`);

function isListOf(value: unknown, isOne: (entry: unknown) => boolean): boolean {
  return Array.isArray(value) && value.length <= MOST_ENTRIES && value.every(isOne);
}

function isText(value: unknown): boolean {
  return typeof value === "string" && value.length <= LONGEST_TEXT && !value.includes("\0");
}

function isDigest(value: unknown): boolean {
  return typeof value === "string" && /^sha256:[0-9a-f]{64}$/.test(value);
}

const nanoseconds = z
  .number()
  .nonnegative()
  .nullish()
  .transform((value) => value ?? 0);

const process = z.object({
  Env: strings,
  Entrypoint: strings,
  Cmd: strings,
  User: text.nullish(),
  WorkingDir: text.nullish(),
  StopSignal: z.union([text, z.number()]).nullish(),
  Volumes: volumes.nullish(),
  Healthcheck: z
    .object({
      Test: strings,
      Interval: nanoseconds,
      Timeout: nanoseconds,
      StartPeriod: nanoseconds,
      StartInterval: nanoseconds,
      Retries: z.int().nonnegative().nullish(),
    })
    .nullish(),
});

const config = z.object({
  architecture: z.string(),
  os: z.string(),
  config: process.nullish(),
  rootfs: z.object({ type: z.literal("layers"), diff_ids: diffIds }),
});

export interface ImageConfig {
  readonly os: string;
  /** As in Go's GOARCH, such as amd64 or arm64. */
  readonly architecture: string;
  /** Entries of the form "NAME=value". */
  readonly env: readonly string[];
  readonly entrypoint: readonly string[];
  readonly cmd: readonly string[];
  readonly user: string | null;
  readonly cwd: string | null;
  readonly stopSignal: string | null;
  /** Absolute paths. */
  readonly volumes: readonly string[];
  readonly healthCheck: HealthCheck | null;
  /** Digests of the uncompressed layers, the lowest first. */
  readonly diffIds: readonly string[];
}

/** Docker's defaults for fields that a HealthCheck does not set. */
const HEALTH = { interval: 30_000, timeout: 30_000, retries: 3 } as const;
const MOST_RETRIES = 100;

/** @throws z.ZodError: the value is no image configuration */
export function parseImageConfig(value: unknown): ImageConfig {
  const { os, architecture, rootfs, config: found } = config.parse(value);
  const { Env, Entrypoint, Cmd, User, WorkingDir, StopSignal, Volumes, Healthcheck } = found ?? process.parse({});
  return {
    ...{ os, architecture, env: Env, entrypoint: Entrypoint, cmd: Cmd, diffIds: rootfs.diff_ids },
    user: User || null,
    cwd: WorkingDir ? `/${WorkingDir.replace(/^\/+/, "")}` : null,
    stopSignal: StopSignal === undefined || StopSignal === null || StopSignal === "" ? null : String(StopSignal),
    volumes: Object.keys(Volumes ?? {}).filter((path) => path.startsWith("/") && !path.split("/").includes("..")),
    healthCheck: Healthcheck ? healthCheckOf(Healthcheck) : null,
  };
}

type Found = NonNullable<z.output<typeof process>["Healthcheck"]>;

/** NONE or an empty test disables the check. */
function healthCheckOf({ Test: [kind, ...rest], Interval, Timeout, StartPeriod, StartInterval, Retries }: Found): HealthCheck | null {
  const command = kind === "CMD" ? rest : kind === "CMD-SHELL" ? ["/bin/sh", "-c", rest.join(" ")] : [];
  if (command.length === 0) return null;
  const ms = (ns: number, absent: number) => (ns === 0 ? absent : Math.max(1, Math.round(ns / NS_PER_MS)));
  return {
    command,
    interval: ms(Interval, HEALTH.interval),
    timeout: ms(Timeout, HEALTH.timeout),
    startPeriod: ms(StartPeriod, 0),
    ...(StartInterval === 0 ? {} : { startInterval: ms(StartInterval, 0) }),
    retries: Math.min(Retries || HEALTH.retries, MOST_RETRIES),
  };
}
