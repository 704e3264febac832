/** Whether checkpoint and restore have the program that they need, and whether it works here. */
import { answersFeatures, findCriu } from "../../criu/index.ts";
import { RuntError } from "../../errors/index.ts";
import * as host from "../../host/index.ts";

export function hasCriu(): boolean {
  return findCriu() !== undefined;
}

/** An old criu may not start on a new kernel, and for others than root it does nothing. */
export function criuWorks(): boolean {
  const criu = host.geteuid() === 0 ? findCriu() : undefined;
  if (criu === undefined) return false;
  try {
    return answersFeatures(criu);
  } catch (error) {
    if (error instanceof RuntError) return false;
    throw error;
  }
}
