/** Every code of `runt validate` with its texts, in the order of docs/findings.md. */
import { DEVICES_AND_RULES } from "../devices/findings.ts";
import { TEXT } from "../document/findings.ts";
import { HOOKS_OF_ALL_KINDS } from "../hooks/findings.ts";
import { MOUNTS } from "../mounts/findings.ts";
import { MOUNT_WORDS } from "../mounts/option-findings.ts";
import { MOUNTS_OF_USER } from "../mounts/user-findings.ts";
import { NAMESPACES } from "../namespaces/findings.ts";
import { IDS } from "../namespaces/id-findings.ts";
import { PODS } from "../namespaces/pod-findings.ts";
import { NETWORK } from "../network/findings.ts";
import { PROCESS } from "../process/findings.ts";
import { POLICIES } from "../process/policy-findings.ts";
import { PROGRAM } from "../process/program-findings.ts";
import { RESOURCES } from "../resources/findings.ts";
import { LIMITS } from "../resources/limit-findings.ts";
import { SECCOMP } from "../seccomp/findings.ts";
import type { Entries, Entry } from "./entry.ts";

export { type Edits, type Entry, type Example, type ExampleFile, sectionText } from "./entry.ts";

/** Title of a chapter, and its entries. */
export const CHAPTERS: readonly (readonly [title: string, entries: Entries])[] = [
  ["The file and its structure", TEXT],
  ["The root filesystem and the program", PROGRAM],
  ["Settings of the process", PROCESS],
  ["Mounts and paths", MOUNTS],
  ["Mounts in a user namespace", MOUNTS_OF_USER],
  ["Mount options, and ids of a mount", MOUNT_WORDS],
  ["Namespaces, names and clocks", NAMESPACES],
  ["Id mappings", IDS],
  ["Network devices and sysctls", NETWORK],
  ["Devices", DEVICES_AND_RULES],
  ["Hooks", HOOKS_OF_ALL_KINDS],
  ["Memory policy, personality, intelRdt", POLICIES],
  ["Memory, CPU time and processes", LIMITS],
  ["Control groups and other limits", RESOURCES],
  ["System call filters", SECCOMP],
  ["Pods", PODS],
];

/** undefined: no such code. */
export function entryOf(code: string): Entry | undefined {
  return CHAPTERS.map(([, entries]) => (Object.hasOwn(entries, code) ? entries[code] : undefined)).find((found) => found !== undefined);
}
export { exampleText } from "./example-text.ts";
