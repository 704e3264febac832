/** Layers as an enemy writes them: archives that no program would make. */
import { headerOf, type TarFile, tar } from "./image-files.ts";

/** An archive without its end: others may follow. */
export function part(files: readonly TarFile[]): Buffer {
  return tar(files).subarray(0, -1024);
}

/** The extended header of the entry that follows. */
export function pax(records: Readonly<Record<string, string>>): TarFile {
  const lines = Object.entries(records).map(([key, value]) => {
    const rest = ` ${key}=${value}\n`;
    let length = rest.length;
    while (String(length).length + rest.length !== length) length = String(length).length + rest.length;
    return `${length}${rest}`;
  });
  return { name: "pax", type: "x", content: lines.join("") };
}

/** One entry whose header is changed after it was made; its checksum is right. */
export function altered(file: TarFile, change: (header: Buffer) => void): Buffer {
  const content = Buffer.from(file.content ?? "");
  const header = headerOf(file, content.length);
  change(header);
  header.write("        ", 148);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return Buffer.concat([header, content, Buffer.alloc((512 - (content.length % 512)) % 512)]);
}

/** Entries that Go's reader sees, and a reader that takes them for the content of a directory does not: a directory of the oldest format has none. */
export function inOldDirectory(files: readonly TarFile[]): Buffer {
  return part([{ name: "old/", type: "\0", content: part(files) }]);
}

/** The same by a size with a zero byte before it: Go takes it for what it says, others for 0. The header that is the content then hides what follows. */
export function behindOddSize(files: readonly TarFile[]): Buffer {
  const hidden = part(files);
  const cover = headerOf({ name: "cover" }, hidden.length);
  const first = altered({ name: "first", content: cover }, (header) => header.write("\x000001000\0\0\0\0", 124, 12, "latin1"));
  return Buffer.concat([first, hidden]);
}
