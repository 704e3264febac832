/** linux.rootfsPropagation words (config-linux) and the recursive forms runc takes. */
import { RuntError } from "../errors/index.ts";
import { MOUNT_OPTIONS } from "./mount-options.ts";

/** MS_* flags; 0 for the empty word. */
export function propagationFlags(word: string): number {
  if (word === "") return 0;
  const flags = MOUNT_OPTIONS.get(word)?.propagation;
  if (flags === undefined) {
    throw new RuntError("config-invalid", `unknown rootfsPropagation "${word}"`, {
      pointer: "/linux/rootfsPropagation",
      finding: "root-propagation-unknown",
    });
  }
  return flags;
}
