/** Builds and environments in which every operation has to work: as built, under the sanitizers, and with the newer system calls refused. */
import { HELPER_ASAN, type Options } from "./helper.ts";

const NEWER_CALLS = [
  "openat2",
  "open_tree",
  "move_mount",
  "fsopen",
  "fsmount",
  "fspick",
  "mount_setattr",
  "clone3",
  "close_range",
  "faccessat2",
];

const ALL: readonly (readonly [string, Options])[] = [
  ["as built", {}],
  ["sanitized", { helper: HELPER_ASAN }],
  ["Linux 5.10 (no mount_setattr)", { refuse: { errno: "ENOSYS", calls: ["mount_setattr", "nosymfollow"] } }],
  ["newer calls missing", { refuse: { errno: "ENOSYS", calls: NEWER_CALLS } }],
  ["newer calls refused", { refuse: { errno: "EPERM", calls: NEWER_CALLS } }],
  ["no openat2, sanitized", { helper: HELPER_ASAN, refuse: { errno: "ENOSYS", calls: ["openat2"] } }],
];

/** `make check` runs only these. Each code path of the helper is in one of them. */
const QUICK: ReadonlySet<string> = new Set(["as built", "newer calls missing", "no openat2, sanitized"]);
export const VARIANTS = process.env["RUNT_TEST_VARIANTS"] === "quick" ? ALL.filter(([name]) => QUICK.has(name)) : ALL;

export const isRoot = process.geteuid?.() === 0;
