import { messageLine } from "../errors/printable/index.ts";
import * as host from "../host/index.ts";

/** A line on stderr, for what cannot be told by the verb's own error; nobody may be there to read it. */
export function warn(text: string): void {
  try {
    host.write(2, `runt: warning: ${messageLine(text)}\n`);
  } catch (error) {
    if (!(error instanceof Error && "errno" in error)) throw error;
  }
}
