import * as host from "../host/index.ts";

/** Only with --debug: a silent success is part of the interface (clients merge stderr into what they parse). */
export function printWarnings(warnings: readonly string[]): void {
  for (const warning of warnings) host.write(2, `warning: ${warning}\n`);
}
