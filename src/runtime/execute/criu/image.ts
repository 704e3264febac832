/** What a checkpoint's directory holds beside criu's own files. */
import * as host from "../../host/index.ts";

/** The files behind the standard streams; runc's name and form. */
export const DESCRIPTORS = "descriptors.json";
/** DEVICE:INODE of the network namespace that the container had joined. */
export const NETWORK = "network";

/** Of the namespace behind a path. */
export function namespaceIdentity(path: string): string {
  const found = host.stat(path);
  return found ? `${found.dev}:${found.ino}` : "";
}
