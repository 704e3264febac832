/** The tables of modules and resources that the build puts into the program (tools/bundle.ts). */

/** What of a module is part of the image of the started engine. */
export const IMAGE_PLACE = { read: 0, evaluated: 1 } as const;

/** A row, in 64-bit words: the name, where the content begins and ends, and its place in the image. A row of zeros ends a table. */
export const EMBEDDED_ROW = { name: "text", start: "bytes", end: "bytes", place: "number" } as const;
