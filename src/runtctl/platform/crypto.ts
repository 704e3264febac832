/** The part of `node:crypto` that specs and pods use. The build puts it in the place of that one. */
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
