/** An initrd: a cpio archive of the format that the kernel unpacks ("newc", usr/gen_init_cpio and initramfs/buffer-format of the kernel's documentation). */

export interface Entry {
  /** Without a slash at its beginning; what is above it has an entry before. */
  readonly path: string;
  /** undefined: a directory. */
  readonly content?: Uint8Array;
  readonly mode: number;
}

const [DIRECTORY, FILE] = [0o040000, 0o100000];
const END = "TRAILER!!!";

/** The same entries give the same bytes: owner root, time 0. */
export function cpio(entries: readonly Entry[]): Buffer {
  const parts = entries.flatMap(({ path, content, mode }, index) =>
    record(path, content ?? new Uint8Array(0), mode | (content === undefined ? DIRECTORY : FILE), index + 1),
  );
  return Buffer.concat([...parts, ...record(END, new Uint8Array(0), 0, 0)]);
}

function record(name: string, content: Uint8Array, mode: number, inode: number): Uint8Array[] {
  const bytes = Buffer.from(`${name}\0`);
  const [uid, gid, links, time, device, checksum] = [0, 0, 1, 0, [0, 0, 0, 0], 0];
  const fields = [inode, mode, uid, gid, links, time, content.length, ...device, bytes.length, checksum];
  const header = Buffer.from(`070701${fields.map((field) => field.toString(16).padStart(8, "0")).join("")}`);
  return [header, bytes, padding(header.length + bytes.length), content, padding(content.length)];
}

function padding(length: number): Uint8Array {
  return new Uint8Array((4 - (length % 4)) % 4);
}
