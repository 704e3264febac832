/** Durations, sizes, rates and names in task files. Each schema converts them to the form that the engine uses. */
import { z } from "zod";
import { DURATION, durationMs, LONGEST_MS } from "../duration.ts";

/** Milliseconds, written as "500ms", "10s", "1h30m", or a number of seconds. */
export const duration = z
  .union([z.string().regex(DURATION, 'write a duration like "500ms", "10s", "1h30m" or a number of seconds'), z.number().nonnegative()])
  .transform((value) => (typeof value === "number" ? Math.round(value * 1000) : durationMs(value)))
  .refine((ms) => ms <= LONGEST_MS, "is longer than ten years");

const SIZE = /^(\d+(?:\.\d+)?)(?:([KMGT])(i?)B?|B)?$/;
const POWER: Readonly<Record<string, number>> = { K: 1, M: 2, G: 3, T: 4 };

/** Bytes, written as a number, as "64Mi" or "64MiB" (powers of 1024), or as "64M" or "64MB" (powers of 1000). */
export const size = z
  .union([z.string().regex(SIZE, 'write a size like "64Mi", "1.5Gi", "500M" or a number of bytes'), z.number()])
  .transform((value) => (typeof value === "number" ? value : sizeBytes(value)))
  .pipe(z.int("is no whole number of bytes that can be counted exactly").positive("must be more than 0"));

function sizeBytes(text: string): number {
  const [, count, unit, binary] = SIZE.exec(text)!;
  const bytes = Number(count) * (unit === undefined ? 1 : (binary === "i" ? 1024 : 1000) ** POWER[unit]!);
  return Math.round(bytes);
}

/** Name of a group, a task or a volume. It becomes part of paths and ids. */
export const name = z
  .string()
  .regex(/^[A-Za-z0-9](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9])?$/, "use 1 to 63 of A-Z a-z 0-9 _ -, with a letter or digit at both ends");

/** Name of a container: any text without slashes and control characters. Ids are derived from it (engine/model/ids.ts). */
export const containerName = z
  .string()
  .min(1, "is empty")
  .max(255, "is longer than 255 characters")
  .regex(/^[^/\p{Cc}]+$/u, "has a slash or a control character");

/** Such as "/a/b": absolute, without "..". */
export const absolutePath = z
  .string()
  .max(4095, "is longer than 4095 characters")
  .refine((path) => path.startsWith("/") && !path.includes("\0"), "is no absolute path")
  .refine((path) => !path.split("/").includes(".."), 'has ".." in it');

/** Maximum length of a path component, in bytes (NAME_MAX). */
const LONGEST_NAME = 255;

/** Such as "a/b": relative, without "..", so that it stays below its directory. */
export const relativePath = z
  .string()
  .max(4000)
  .refine(
    (path) => path.split("/").every((part) => part !== "" && part !== "." && part !== ".." && part.length <= LONGEST_NAME),
    "is no path below it",
  )
  .refine((path) => !path.includes("\0"), "has a NUL character in it");

/** An argument or value. A NUL is refused, because the kernel would end the text there. */
export const text = z.string().refine((value) => !value.includes("\0"), "has a NUL character in it");

/** The range of weights of the I/O scheduler BFQ. */
const weight = z.int().min(10).max(1000).optional();
const rate = z.int().min(1).optional();

export const blockIo = z.strictObject({
  weight: weight.describe("Share of block devices relative to other containers."),
  devices: z
    .array(
      z.strictObject({
        path: absolutePath.describe("A block device of the host, or a link to one."),
        weight,
        readBps: rate.describe("Bytes per second."),
        writeBps: rate,
        readIops: rate.describe("Operations per second."),
        writeIops: rate,
      }),
    )
    .max(100)
    .optional(),
});

/** Limits of huge pages, in bytes by page size. */
export const pages = z.record(
  z.string().regex(/^[1-9]\d{0,3}[KMG]B$/, 'write the size of a page like "2MB" or "1GB"'),
  z.union([z.literal(0), size]),
);
