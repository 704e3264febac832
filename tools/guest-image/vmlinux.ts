/** The kernel itself out of a bzImage: QEMU starts it at once by its PVH note, where a firmware and a decompressor would take half a minute of emulation. */
import { spawnSync } from "node:child_process";

/** Offsets in the header of a bzImage (Documentation/arch/x86/boot.rst). */
const [SETUP_SECTORS, MAGIC, PAYLOAD_OFFSET, PAYLOAD_LENGTH] = [0x1f1, 0x202, 0x248, 0x24c];
const SECTOR = 512;

/** By the first bytes of the compressed kernel. */
const DECOMPRESSORS: readonly (readonly [magic: string, command: readonly [string, ...string[]]])[] = [
  ["fd377a58", ["xz", "--decompress", "--single-stream", "--stdout"]],
  ["02214c18", ["lz4", "-d", "-c"]],
  ["1f8b", ["gzip", "--decompress", "--stdout"]],
  ["28b52ffd", ["zstd", "--decompress", "--stdout"]],
];

/** @throws Error */
export function vmlinuxOf(image: Buffer): Buffer {
  if (image.toString("latin1", MAGIC, MAGIC + 4) !== "HdrS") throw new Error("not a bzImage");
  const begin = (image[SETUP_SECTORS]! + 1) * SECTOR + image.readUInt32LE(PAYLOAD_OFFSET);
  const payload = image.subarray(begin, begin + image.readUInt32LE(PAYLOAD_LENGTH));
  const found = DECOMPRESSORS.find(([magic]) => payload.subarray(0, magic.length / 2).toString("hex") === magic);
  if (!found) throw new Error(`a kernel compressed in a way that is not known (${payload.subarray(0, 4).toString("hex")})`);
  const [program, ...args] = found[1];
  // Behind the compressed kernel stands its size, which the program takes for rubbish: the result is what counts.
  const { stdout, error } = spawnSync(program, args, { input: payload, maxBuffer: 1 << 30 });
  if (error) throw new Error(`${program}: ${error.message}`);
  if (stdout.subarray(0, 4).toString("latin1") !== "\x7fELF") throw new Error(`${program} has not brought out an ELF file`);
  return stdout;
}
