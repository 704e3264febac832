/** ConfigMaps, Secrets and ServiceAccounts of a file, found by kind, namespace and name. */

import type { z } from "zod";
import type { configMap, secret } from "../schema/config.ts";

export interface Content {
  readonly content: string;
  readonly encoding: "utf8" | "base64";
}

export type Entries = ReadonlyMap<string, Content>;
export type ObjectKind = "ConfigMap" | "Secret";

export class Objects {
  readonly #entries = new Map<string, Entries>();
  readonly #accounts = new Set<string>();

  /** Returns false if there already is an object with this kind, namespace and name. */
  add(object: z.output<typeof configMap> | z.output<typeof secret>): boolean {
    const { kind, metadata } = object;
    const id = idOf(kind, metadata.namespace ?? "default", metadata.name);
    if (this.#entries.has(id)) return false;
    this.#entries.set(id, new Map(object.kind === "ConfigMap" ? ofConfigMap(object) : ofSecret(object)));
    return true;
  }

  addAccount(namespace: string, name: string): void {
    this.#accounts.add(`${namespace}/${name}`);
  }

  hasAccount(namespace: string, name: string): boolean {
    return this.#accounts.has(`${namespace}/${name}`);
  }

  get(kind: ObjectKind, namespace: string, name: string): Entries | undefined {
    return this.#entries.get(idOf(kind, namespace, name));
  }
}

function idOf(kind: ObjectKind, namespace: string, name: string): string {
  return `${kind}/${namespace}/${name}`;
}

type Entry = readonly [string, Content];

function ofConfigMap({ data, binaryData }: z.output<typeof configMap>): Entry[] {
  return [...as(data, "utf8"), ...as(binaryData, "base64")];
}

/** stringData takes precedence over data, as in the Kubernetes API. */
function ofSecret({ data, stringData }: z.output<typeof secret>): Entry[] {
  return [...as(data, "base64"), ...as(stringData, "utf8")];
}

function as(values: Readonly<Record<string, string>>, encoding: Content["encoding"]): Entry[] {
  return Object.entries(values).map(([key, content]) => [key, { content, encoding }]);
}

/** The text of an environment variable; undefined: the bytes are not valid UTF-8. */
export function textOf({ content, encoding }: Content): string | undefined {
  if (encoding === "utf8") return content.includes("\0") ? undefined : content;
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.from(content, "base64"));
    return text.includes("\0") ? undefined : text;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return undefined;
  }
}
