/** The uid of a pod: the one in its document, or a hash of namespace and name. */
import { uuidOf } from "../engine/spec/index.ts";

interface Named {
  readonly uid?: string | undefined;
  readonly namespace?: string | undefined;
  readonly name: string;
}

export function uidOf({ uid, ...named }: Named): string {
  return uid ?? uuidOf(uidText(named));
}

/** What the uid of a pod is made of, if its document has none. */
export function uidText({ namespace = "default", name }: Named): string {
  return JSON.stringify([namespace, name]);
}
