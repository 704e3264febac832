/** What the index of an OCI layout of this host names. */
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { LARGEST_JSON } from "./blob.ts";
import { ImageError } from "./errors.ts";
import { jsonOf } from "./manifest.ts";

/** Digests of its manifests; undefined: there is no index, which skopeo says better. @throws ImageError image-invalid */
export function listedIn(layout: string): readonly string[] | undefined {
  const path = join(layout, "index.json");
  const bytes = readRegular(path);
  if (bytes === undefined) return undefined;
  const value = jsonOf(bytes, path) as { manifests?: unknown } | null;
  return Array.isArray(value?.manifests) ? value.manifests.map((one: { digest?: unknown } | null) => String(one?.digest)) : [];
}

/** What is no file could block for ever, or never end. */
function readRegular(path: string): Buffer | undefined {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch {
    return undefined;
  }
  try {
    const found = fstatSync(fd);
    if (!found.isFile()) throw new ImageError("image-invalid", `${path} is no regular file`);
    if (found.size > LARGEST_JSON) throw new ImageError("image-invalid", `${path} is larger than ${LARGEST_JSON} bytes`);
    return readFileSync(fd);
  } finally {
    closeSync(fd);
  }
}
