/** Whether checkpoint and restore have the program that they need. */
import { findCriu } from "../../criu/index.ts";

export function hasCriu(): boolean {
  return findCriu() !== undefined;
}
