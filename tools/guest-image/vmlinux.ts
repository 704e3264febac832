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

/** ELF-64, little endian (elf(5)): where in the header these are, and in an entry of the program headers. */
const [SECTIONS_AT, PROGRAMS_AT, PROGRAM_SIZE_AT, PROGRAM_COUNT_AT, SECTION_COUNT_AT, SECTION_NAMES_AT] = [40, 32, 54, 56, 60, 62];
const [OFFSET_AT, FILE_SIZE_AT] = [8, 32];
const LOAD = 1;

/**
 * The same kernel in a smaller file: without the zeros at the end of its last segment, which are memory that is empty when it begins, and without the
 * table of sections behind them. The hypervisor has the whole file in its memory as long as it runs.
 */
export function trimmed(kernel: Buffer): Buffer {
  const programs = Array.from(
    { length: kernel.readUInt16LE(PROGRAM_COUNT_AT) },
    (_, index) => Number(kernel.readBigUInt64LE(PROGRAMS_AT)) + index * kernel.readUInt16LE(PROGRAM_SIZE_AT),
  );
  const offsetOf = (program: number): number => Number(kernel.readBigUInt64LE(program + OFFSET_AT));
  const last = programs
    .filter((program) => kernel.readUInt32LE(program) === LOAD)
    .reduce((one, other) => (offsetOf(other) > offsetOf(one) ? other : one));
  const begin = offsetOf(last);
  let end = begin + Number(kernel.readBigUInt64LE(last + FILE_SIZE_AT));
  while (end > begin && kernel[end - 1] === 0) end--;
  const result = Buffer.from(kernel.subarray(0, end));
  result.writeBigUInt64LE(BigInt(end - begin), last + FILE_SIZE_AT);
  result.writeBigUInt64LE(0n, SECTIONS_AT);
  for (const at of [SECTION_COUNT_AT, SECTION_NAMES_AT]) result.writeUInt16LE(0, at);
  return result;
}
