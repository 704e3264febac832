/** What an entry of the catalogue says. The texts are for people: only `runt validate` loads them, and only when there is a finding. */
import type { HostFacts, Severity } from "../finding.ts";

/** Values by JSON pointer; null takes the field away, a last token "-" appends to a list. */
export type Edits = Readonly<Record<string, unknown>>;

/** A file of an example's host: a kind, or what is special about it. */
export interface ExampleFile {
  readonly kind: "file" | "directory" | "symlink" | "block" | "char" | "socket" | "absent" | "namespace";
  readonly mode?: number;
  readonly uid?: number;
  /** Text of a link or a file, type of a namespace; "elf:N" is a static program for machine N. */
  readonly text?: string;
  /** Of a device node, "8:0"; of a namespace, "own" or "denied". */
  readonly is?: string;
  readonly readOnly?: true;
}

export interface Example {
  /** What makes the finding, out of the configuration that is clean (test/support/example-host.ts). */
  readonly broken: Edits;
  /** What makes it clean again; left out: without what was broken. */
  readonly fixed?: Edits;
  /** Where the finding is, if not at the one edit. */
  readonly at?: string;
  /** The text instead of edits: a replacement of its first match. */
  readonly text?: readonly [search: string, broken: string];
  readonly facts?: { readonly [K in keyof HostFacts]?: Partial<HostFacts[K]> };
  readonly files?: Readonly<Record<string, ExampleFile>>;
  readonly rootless?: true;
  readonly systemd?: true;
}

export interface Entry {
  readonly level: Severity;
  readonly title: string;
  /** "config.md#process", or the page of a manual. */
  readonly section: string;
  readonly why: string;
  readonly fix: string;
  readonly example: Example;
}

export type Entries = Readonly<Record<string, Entry>>;

/** An entry in one line. */
export const entry = (level: Severity, title: string, section: string, why: string, fix: string, example: Example): Entry => ({
  level,
  title,
  section,
  why,
  fix,
  example,
});

/** "OCI 1.3 config.md#process"; manual pages as they are. */
export function sectionText(section: string): string {
  return section.startsWith("config") ? `OCI 1.3 ${section}` : section;
}
