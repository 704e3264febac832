/** What `--version` says of the programs that runt works with, in crun's form. */
import { criuWorks } from "../execute/index.ts";

/** Empty, or a line. */
export function versionFeatures(): string {
  return criuWorks() ? "+CRIU\n" : "";
}
