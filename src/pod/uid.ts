/** The uid of a pod: the one in its document, or a hash of namespace and name. */
import { createHash } from "node:crypto";

interface Named {
  readonly uid?: string | undefined;
  readonly namespace?: string | undefined;
  readonly name: string;
}

export function uidOf({ uid, namespace = "default", name }: Named): string {
  if (uid !== undefined) return uid;
  const hex = createHash("sha256")
    .update(JSON.stringify([namespace, name]))
    .digest("hex");
  // A UUID of version 8 (RFC 9562): all bits except version and variant are free.
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join("-");
}
