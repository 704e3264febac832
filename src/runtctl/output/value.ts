/** Formats values for programs. */
import { onNode } from "../platform/index.ts";

export type Format = "json" | "yaml";

/** What formats a value. To be called before anything is asked of the daemon, which the client on Node would ask once more. */
export async function formatOf(format: Format): Promise<(value: unknown) => string> {
  if (format === "json") return (value) => JSON.stringify(value, null, 2);
  const { stringify } = await (await onNode(() => import("../on-node/parsers.ts"))).yaml();
  return (value) => stringify(value).trimEnd();
}
