/** The part of `node:crypto` that specs and pods use. The build replaces `node:crypto` with this module. */
import { sha256 } from "runt:client";

export function createHash(_algorithm: "sha256") {
  let whole = "";
  return {
    update(text: string) {
      whole += text;
      return this;
    },
    digest: (_encoding: "hex"): string => sha256(whole),
  };
}
