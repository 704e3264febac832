/** What checks may ask of a host and of a bundle on it. Looked up when a check asks; a test gives plain objects (fake-view.ts). */
import type { HostFacts } from "../finding.ts";

export type FileKind = "file" | "directory" | "symlink" | "block" | "char" | "fifo" | "socket";

export interface FileFacts {
  readonly kind: FileKind;
  /** Permission bits: 0o7777. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  /** Of a device node. */
  readonly major: number;
  readonly minor: number;
}

/** Files below a directory. Paths are absolute within it, and nothing leads out of it. */
export interface Tree {
  /** Of the file itself, if it is a link. undefined: not there; throws nothing. */
  look(path: string): FileFacts | undefined;
  /** The text of a link. */
  link(path: string): string | undefined;
  /** Names in a directory; none if it is none. */
  names(path: string): readonly string[];
  /** Part of a regular file; empty if it cannot be read. */
  read(path: string, offset: number, length: number): ArrayBuffer;
  /** The filesystem it is on can be written to, by the caller. */
  isWritable(path: string): boolean;
}

export interface BundleView {
  /** What is known of the host, section by section. */
  readonly facts: Partial<HostFacts>;
  /** The bundle's directory; undefined when config.json came without one. */
  readonly bundle?: string;
  /** The files of this host count: not so for a host of which only the facts were recorded. */
  readonly live: boolean;
  /** Files below a directory of this machine; undefined when there is none. "/" is everything. */
  tree(directory: string): Tree | undefined;
  /** A path of this machine, links followed. undefined: not there. "unknown": may not be looked at. */
  stat(path: string): FileFacts | "unknown" | undefined;
  /** What kind of namespace a path leads to; `own`: the caller is in it. "denied": the caller may not open it. undefined: it is none. */
  namespace(path: string): { readonly type: string; readonly own: boolean } | "denied" | undefined;
  /** A text file of this host; undefined when it is not there. */
  text(path: string): string | undefined;
}
