/** Translates logging of a service. Source: Docker, "Configure logging drivers". */
import type { TaskInput } from "../../engine/spec/index.ts";
import type { ServicePlace } from "./place.ts";
import { bytesOf, SIZE } from "./quantity.ts";
import type { ServiceInput } from "./schema.ts";

type Log = NonNullable<TaskInput["containers"][number]["log"]>;

/** In bytes: the engine's smallest file. */
const LEAST = 65_536;
const MOST_FILES = 100;

/** undefined: as the engine has it. */
export function logOf({ logging }: ServiceInput, { refuse, warn }: ServicePlace): Log | undefined {
  if (logging === undefined) return undefined;
  const { driver, options = {} } = logging;
  if (driver === "none") {
    for (const name of Object.keys(options)) warn("has no effect with the driver none", ["logging", "options", name]);
    return { driver };
  }
  const { "max-size": size, "max-file": files, ...others } = options;
  for (const name of Object.keys(others)) warn(`has no effect: of a log only max-size and max-file are used`, ["logging", "options", name]);
  const isSize = size !== undefined && SIZE.test(String(size));
  if (size !== undefined && !isSize && String(size) !== "-1") refuse('write a size like "10m"', ["logging", "options", "max-size"]);
  const count = Number(files ?? 1);
  if (!Number.isInteger(count) || count < 1 || count > MOST_FILES)
    refuse(`is no number of files from 1 to ${MOST_FILES}`, ["logging", "options", "max-file"]);
  const bytes = isSize ? bytesOf(String(size)) : 0;
  if (isSize && bytes < LEAST) warn("is less than 64k, which is what a file gets", ["logging", "options", "max-size"]);
  return {
    ...(driver === "journald" ? { driver } : {}),
    ...(isSize ? { maxSize: Math.max(LEAST, bytes) } : {}),
    ...(files === undefined ? {} : { maxFiles: count }),
  };
}
