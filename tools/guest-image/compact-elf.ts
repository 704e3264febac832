/**
 * A kernel in a smaller ELF file. The hypervisor has the whole file in its memory as long as it runs, and a fifth of Debian's kernel is pages of zeros:
 * they become memory that a segment has and the file has not. Layout: elf(5), ELF-64, little endian.
 */

const PAGE = 4096;
const HEADER_SIZE = 64;
/** Offsets in the header of the file. */
const [PROGRAMS_AT, SECTIONS_AT, PROGRAM_SIZE_AT, PROGRAM_COUNT_AT, SECTION_COUNT_AT, SECTION_NAMES_AT] = [32, 40, 54, 56, 60, 62];
/** Offsets in an entry of the program headers, and its size. */
const [FLAGS_AT, OFFSET_AT, VIRTUAL_AT, PHYSICAL_AT, FILE_SIZE_AT, MEMORY_SIZE_AT, ALIGN_AT, PROGRAM_SIZE] = [4, 8, 16, 24, 32, 40, 48, 56];
const LOAD = 1;
/** A shorter run of zeros stays in the file: a segment more costs more than it. */
const LEAST_GAP_PAGES = 4;

/** Sizes and addresses in bytes. */
interface Segment {
  readonly type: number;
  readonly flags: number;
  readonly offset: number;
  readonly virtual: bigint;
  readonly physical: bigint;
  readonly fileSize: number;
  readonly memorySize: number;
}

/** The kernel without its pages of zeros and without its table of sections. @throws Error a segment that is not LOAD lies outside of all that are */
export function compact(kernel: Buffer): Buffer {
  const segments = segmentsOf(kernel);
  const pieces = segments.filter(({ type }) => type === LOAD).flatMap((segment) => piecesOf(kernel, segment));
  const others = segments.filter(({ type }) => type !== LOAD);

  let end = aligned(HEADER_SIZE + (pieces.length + others.length) * PROGRAM_SIZE);
  const loads = pieces.map((piece) => {
    const at = end;
    end = aligned(at + piece.fileSize);
    return { piece, at };
  });
  const placeOf = (segment: Segment): number => {
    const found = loads.find(
      ({ piece }) => piece.offset <= segment.offset && segment.offset + segment.fileSize <= piece.offset + piece.fileSize,
    );
    if (!found) throw new Error(`a segment of type ${segment.type} lies outside of what is loaded`);
    return found.at + segment.offset - found.piece.offset;
  };

  const result = Buffer.alloc(end);
  kernel.copy(result, 0, 0, HEADER_SIZE);
  result.writeBigUInt64LE(BigInt(HEADER_SIZE), PROGRAMS_AT);
  result.writeBigUInt64LE(0n, SECTIONS_AT);
  result.writeUInt16LE(PROGRAM_SIZE, PROGRAM_SIZE_AT);
  result.writeUInt16LE(pieces.length + others.length, PROGRAM_COUNT_AT);
  for (const at of [SECTION_COUNT_AT, SECTION_NAMES_AT]) result.writeUInt16LE(0, at);
  const entries = [
    ...loads.map(({ piece, at }) => ({ segment: piece, at })),
    ...others.map((segment) => ({ segment, at: placeOf(segment) })),
  ];
  entries.forEach(({ segment, at }, index) => {
    writeSegment(result, HEADER_SIZE + index * PROGRAM_SIZE, segment, at);
  });
  for (const { piece, at } of loads) kernel.copy(result, at, piece.offset, piece.offset + piece.fileSize);
  return result;
}

const aligned = (size: number): number => Math.ceil(size / PAGE) * PAGE;

function segmentsOf(kernel: Buffer): Segment[] {
  const at = Number(kernel.readBigUInt64LE(PROGRAMS_AT));
  return Array.from({ length: kernel.readUInt16LE(PROGRAM_COUNT_AT) }, (_, index) => {
    const begin = at + index * kernel.readUInt16LE(PROGRAM_SIZE_AT);
    return {
      type: kernel.readUInt32LE(begin),
      flags: kernel.readUInt32LE(begin + FLAGS_AT),
      offset: Number(kernel.readBigUInt64LE(begin + OFFSET_AT)),
      virtual: kernel.readBigUInt64LE(begin + VIRTUAL_AT),
      physical: kernel.readBigUInt64LE(begin + PHYSICAL_AT),
      fileSize: Number(kernel.readBigUInt64LE(begin + FILE_SIZE_AT)),
      memorySize: Number(kernel.readBigUInt64LE(begin + MEMORY_SIZE_AT)),
    };
  });
}

/** What a segment has between its runs of zeros. Each takes the memory up to the next, so that together they fill the segment's memory as before. */
function piecesOf(kernel: Buffer, segment: Segment): Segment[] {
  const filled = filledRanges(kernel.subarray(segment.offset, segment.offset + segment.fileSize));
  return filled.map(([from, to], index) => ({
    ...segment,
    offset: segment.offset + from,
    virtual: segment.virtual + BigInt(from),
    physical: segment.physical + BigInt(from),
    fileSize: to - from,
    memorySize: (filled[index + 1]?.[0] ?? segment.memorySize) - from,
  }));
}

/** Ranges of bytes, of whole pages but for the last; the first begins at 0. */
function filledRanges(bytes: Buffer): (readonly [from: number, to: number])[] {
  const ranges: [number, number][] = [[0, 0]];
  for (let from = 0; from < bytes.length; from += PAGE) {
    const page = bytes.subarray(from, from + PAGE);
    if (page.every((byte) => byte === 0)) continue;
    const last = ranges.at(-1)!;
    const to = from + page.length;
    if (from - last[1] < LEAST_GAP_PAGES * PAGE) last[1] = to;
    else ranges.push([from, to]);
  }
  return ranges;
}

function writeSegment(file: Buffer, begin: number, segment: Segment, offset: number): void {
  file.writeUInt32LE(segment.type, begin);
  file.writeUInt32LE(segment.flags, begin + FLAGS_AT);
  for (const [at, value] of [
    [OFFSET_AT, BigInt(offset)],
    [VIRTUAL_AT, segment.virtual],
    [PHYSICAL_AT, segment.physical],
    [FILE_SIZE_AT, BigInt(segment.fileSize)],
    [MEMORY_SIZE_AT, BigInt(segment.memorySize)],
    [ALIGN_AT, BigInt(segment.type === LOAD ? PAGE : 4)],
  ] as const) {
    file.writeBigUInt64LE(value, begin + at);
  }
}
