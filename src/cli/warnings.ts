import { printable } from "../errors/printable.ts";
import * as host from "../host/index.ts";
import { loadedNow } from "../host/lazy.ts";

/** Only with --debug: a silent success is part of the interface (clients merge stderr into what they parse). */
export function printWarnings(warnings: readonly string[]): void {
  if (warnings.length === 0) return;
  const { warning: style } = loadedNow(import("./style.ts")).styleOf(2);
  for (const warning of warnings) host.write(2, `${style("warning:")} ${printable(warning)}\n`);
}
