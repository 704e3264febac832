/** files.img of a checkpoint: what was open (images/fdinfo.proto and regfile.proto of criu 3.1 to 4.x). Pure. */

import { S } from "../../shared/linux/index.ts";
import { joinBytes } from "../../shared/text/index.ts";
import { changeMessage, decodeMessage, type Fields, messageOf, numberOf, textOf } from "./protobuf.ts";

/** Name of the file in an image directory. */
export const OPEN_FILES = "files.img";

/** Two magic numbers. */
const HEAD = 8;
/** Bytes before each entry: its length. */
const LENGTH = 4;
/** Of file_entry. */
const REGULAR = 3;
/** Of reg_file_entry. */
const FIELD = { flags: 2, name: 6, size: 8, mode: 10 } as const;
const O_ACCMODE = 3;
const O_WRONLY = 1;
const O_APPEND = 0o2000;

function entriesOf(image: Uint8Array): Uint8Array[] {
  const view = new DataView(image.buffer, image.byteOffset, image.byteLength);
  const entries: Uint8Array[] = [];
  for (let at = HEAD; at < image.length; ) {
    if (at + LENGTH > image.length) throw new RangeError("an entry without its length");
    const end = at + LENGTH + view.getUint32(at, true);
    if (end > image.length) throw new RangeError("an entry is longer than its file");
    entries.push(image.subarray(at + LENGTH, end));
    at = end;
  }
  return entries;
}

/** The modes of files by the names that criu has for them; 0: a file whose mode makes no difference. @throws RangeError for what is no such file */
export function openFileModes(image: Uint8Array): ReadonlyMap<string, number> {
  const modes = new Map<string, number>();
  for (const entry of entriesOf(image)) {
    const file = messageOf(decodeMessage(entry), REGULAR);
    const name = file && textOf(file, FIELD.name);
    if (file && name !== undefined) modes.set(name, numberOf(file, FIELD.mode) ?? 0);
  }
  return modes;
}

/**
 * The image for a restore with other files in the place of those named. criu compares size and mode of a file with those at the dump, and writes where
 * the program was: the file of another run has other ones. What was only written to is appended to.
 * @throws RangeError for what is no such file
 */
export function replaceableFiles(image: Uint8Array, names: ReadonlySet<string>): Uint8Array {
  const entries = entriesOf(image).map((entry) =>
    changeMessage(entry, (field, value) => (field === REGULAR && value instanceof Uint8Array ? replaceable(value, names) : undefined)),
  );
  return joinBytes([image.subarray(0, HEAD), ...entries.flatMap((entry) => [lengthOf(entry), entry])]);
}

function replaceable(file: Uint8Array, names: ReadonlySet<string>): Uint8Array | undefined {
  const fields: Fields = decodeMessage(file);
  if (!names.has(textOf(fields, FIELD.name) ?? "")) return undefined;
  // A device is what it is: it keeps its mode.
  if (((numberOf(fields, FIELD.mode) ?? 0) & S.IFMT) !== S.IFREG) return undefined;
  const flags = numberOf(fields, FIELD.flags) ?? 0;
  return changeMessage(file, (field) => {
    if (field === FIELD.size || field === FIELD.mode) return null;
    return field === FIELD.flags && (flags & O_ACCMODE) === O_WRONLY ? (flags | O_APPEND) >>> 0 : undefined;
  });
}

function lengthOf(entry: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(LENGTH);
  new DataView(bytes.buffer).setUint32(0, entry.length, true);
  return bytes;
}

/*
 * Standard streams that lead out of the container: pipes and files of the caller.
 */

/** A descriptor 0, 1 or 2 of the container's process. */
interface Stream {
  /** The link /proc/PID/fd/N. */
  readonly link: string;
  /** From /proc/PID/fdinfo/N. */
  readonly mountId: number;
  readonly inode: bigint;
  /** Whether it is open in a mount that the container has. */
  readonly inside: boolean;
}

/**
 * What criu calls it. A pipe goes by its link, without being announced as external; an open file that no mount of the container shows goes
 * by mount and inode; for everything else (terminals, files inside) the link is only kept for the record, as runc keeps it.
 */
export function streamKey({ link, mountId, inode, inside }: Stream): string {
  return isOutsideFile(link, inside) ? `file[${mountId.toString(16)}:${inode.toString(16)}]` : link;
}

function isOutsideFile(link: string, inside: boolean): boolean {
  return link.startsWith("/") && !link.startsWith("/dev/pts/") && !inside;
}

/** What a dump has to announce. */
export function externalFiles(keys: readonly string[]): string[] {
  return [...new Set(keys.filter(isFileKey))];
}

/** The list is part of the image: nothing else than these two is taken from it. */
const PIPE = /^pipe:\[\d+\]$/;
const FILE = /^file\[[0-9a-f]+:[0-9a-f]+\]$/;

export const isFileKey = (key: string): boolean => FILE.test(key);

/** A stream that a restore has to give. */
export interface Recorded {
  readonly key: string;
  /** The first descriptor that was open at it. */
  readonly number: number;
  readonly isFile: boolean;
}

/** Two names of one stream are one. */
export function recordedStreams(keys: readonly string[]): Recorded[] {
  return keys
    .map((key, number) => ({ key, number, isFile: FILE.test(key) }))
    .filter(({ key, isFile }, index) => (isFile || PIPE.test(key)) && keys.indexOf(key) === index);
}
