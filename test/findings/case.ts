/** A broken bundle as data: one edit away from a bundle that is clean. */
import { CHAPTERS, type Edits, type Example, type ExampleFile } from "../../src/runtime/check/catalogue/index.ts";

export interface Case {
  /** The one finding that it has. */
  readonly code: string;
  /** Where; left out: at the first edit. */
  readonly at?: string;
  readonly broken: Edits;
  /** The clean twin; left out: without the edits. */
  readonly fixed?: Edits;
  readonly text?: readonly [search: string, broken: string];
  /** Files of the bundle, below /bundle, and of the host, below /srv and /usr: both are made in a directory of the case's own. */
  readonly files?: Readonly<Record<string, ExampleFile>>;
  readonly facts?: Example["facts"];
  readonly rootless?: true;
  readonly systemd?: true;
  /** On this machine, not on the recorded one. */
  readonly live?: true;
}

/** One of a table: code, edits, and what else there is to say. */
export const broken = (code: string, edits: Edits, more: Omit<Case, "code" | "broken"> = {}): Case => ({ code, broken: edits, ...more });

/** Paths of the example's host that a case can bring along; everything else outside of the bundle is the machine's own. */
const BROUGHT = /^\/(?:bundle|srv|usr)(?:\/|$)/;
/** Findings in what only the example's host has: kernel files, namespaces and cgroups of a made-up machine (test/unit/findings.test.ts). */
const OF_THE_MACHINE = /\/(?:dev\/fuse|proc\/77|run\/netns)/;

/** What depends on the users, the disks or the uptime of a machine, or on a socket: in the unit test alone. */
const OF_ITS_OWN = [
  "config-encoding",
  "mappings-not-granted",
  "block-device-missing",
  "block-device-partition",
  "time-offset-negative",
  "seccomp-listener-missing",
  "overlay-directory",
  "sysctl-first-namespace",
];
/** Seen on the live host alone. */
const OF_THE_LIVE = [
  "rootfs-unreachable",
  "program-format",
  "program-machine",
  "path-links",
  "sysctl-absent",
  "sysctl-directory",
  "sysctl-form",
  "sysctl-interface",
  "sysctl-limit",
  "sysctl-read-only",
  "sysctl-user-namespace",
  "sysctl-groups",
];

/** The examples of the catalogue that can stand on a disk. */
export const FROM_CATALOGUE: readonly Case[] = CHAPTERS.flatMap(([, entries]) =>
  Object.entries(entries).flatMap(([code, { example }]) => {
    const isBrought = Object.keys(example.files ?? {}).every((path) => BROUGHT.test(path));
    if (!isBrought || OF_ITS_OWN.includes(code) || OF_THE_MACHINE.test(JSON.stringify(example))) return [];
    return [{ code, ...example, ...(OF_THE_LIVE.includes(code) && { live: true as const }) }];
  }),
);

/** Whether files of the host are looked at, which only the live one has. */
export function isLive({ broken, fixed, live, files = {} }: Case): boolean {
  return (
    live === true ||
    /"\/(?:srv|usr)\//.test(JSON.stringify([broken, fixed])) ||
    Object.keys(files).some((path) => !path.startsWith("/bundle"))
  );
}
