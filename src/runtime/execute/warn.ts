import { messageLine } from "../errors/index.ts";
import * as host from "../host/index.ts";

/** A line on stderr, for a problem that does not make the verb fail. A stderr that is closed is no error. */
export function warn(text: string): void {
  try {
    host.write(2, `runt: warning: ${messageLine(text)}\n`);
  } catch (error) {
    if (!(error instanceof Error && "errno" in error)) throw error;
  }
}
