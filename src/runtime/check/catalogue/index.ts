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
import type { Edits, Entries, Entry } from "./entry.ts";

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

/**
 * The example of a finding as text, for docs/findings.md and `runt explain`. Pure. A fragment of
 * config.json for some edits.
 */
function fragment(edits: Edits): string {
  const lines = Object.entries(edits).map(([pointer, value]) => {
    const shown = JSON.stringify(value);
    return value === null
      ? `${pointer}  (left out)`
      : `${pointer.replace(/\/-$/, " +=")}  ${shown.length > 150 ? `${shown.slice(0, 149)}…` : shown}`;
  });
  return lines.length === 0 ? "(left out)" : lines.join("\n");
}

/** What makes the finding, what does not, and the host where that matters: lines of text. */
export function exampleText({ example, fix }: Entry): string {
  const { broken, fixed, text, facts, files } = example;
  const printable = (part: string) =>
    JSON.stringify(part).slice(1, -1).replaceAll('\\"', '"').replaceAll("\\n", "⏎").replace("\ufeff", "\\ufeff");
  const failing = text === undefined ? fragment(broken) : printable(text[1]);
  const working = text === undefined ? (fixed === undefined ? `(${fix})` : fragment(fixed)) : printable(text[0]);
  const where = [
    ...Object.entries(files ?? {}).map(
      ([path, { kind, text: content }]) => `${path} is a ${kind}${content === undefined ? "" : ` (${printable(content)})`}`,
    ),
    ...(facts === undefined ? [] : [`host facts ${JSON.stringify(facts)}`]),
    ...(example.rootless ? ["a caller without rights on the host"] : []),
    ...(example.systemd ? ["--systemd-cgroup"] : []),
  ];
  return [...where.map((line) => `# with ${line}`), "# found in", failing, "# not in", working].join("\n");
}
