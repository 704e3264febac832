/**
 * Cases in one file (u32 length, little endian, and the bytes), which is what the repository keeps and replay.c reads; libFuzzer wants one file
 * each. Usage: pack.ts pack FILE DIRECTORY | pack.ts unpack FILE DIRECTORY
 */
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

function pack(directory: string): Buffer {
  const parts = readdirSync(directory)
    .map((name) => readFileSync(join(directory, name)))
    // The same set gives the same file.
    .sort((a, b) => a.length - b.length || a.compare(b))
    .flatMap((bytes) => {
      const length = Buffer.alloc(4);
      length.writeUInt32LE(bytes.length);
      return [length, bytes];
    });
  return Buffer.concat(parts);
}

function unpack(whole: Buffer, directory: string): void {
  mkdirSync(directory, { recursive: true });
  for (let at = 0; at < whole.length; ) {
    const bytes = whole.subarray(at + 4, at + 4 + whole.readUInt32LE(at));
    writeFileSync(join(directory, createHash("sha1").update(bytes).digest("hex")), bytes);
    at += 4 + bytes.length;
  }
}

const [verb, file, directory] = process.argv.slice(2);
if (file === undefined || directory === undefined || (verb !== "pack" && verb !== "unpack"))
  throw new Error("pack.ts pack|unpack FILE DIRECTORY");
if (verb === "pack") writeFileSync(file, pack(directory));
else unpack(readFileSync(file), directory);
