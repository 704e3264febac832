/**
 * Stores which networks each task is attached to, one file a task. The file is written before anything is made, and again with the results. DEL and CHECK use the
 * stored configuration, so that a new configuration or a new version of this program undoes exactly what was done.
 */
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { removeOwnFile, writeAtomically } from "../../node/index.ts";
import { readOwnFile, unlessShortage } from "../own/index.ts";
import type { NetworkStep } from "../plan/index.ts";
import { type CniResult, hasAddress } from "./answer.ts";

export interface Attachment {
  readonly containerId: string;
  /** The boot in which it was made. After a reboot its namespace, interfaces and rules are gone. */
  readonly bootId: string;
  readonly namespace: string;
  readonly steps: readonly NetworkStep[];
  /** One result for each step, in order; null: the steps were not completed. */
  readonly results: readonly CniResult[] | null;
  /** Rules of the host in the form of iptables-restore(8), written with the results. Empty where they are in a table of nftables. */
  readonly nat?: readonly string[];
  /** The driver of the packet filter that has made its rules; undefined: iptables, as in earlier versions. */
  readonly filter?: "nft";
  /** Whether the task may reach the metadata of the host's cloud; undefined: an earlier version has made it, and kept it away inside of the task only. */
  readonly reachesMetadata?: boolean;
  /** Whether rules in its namespace lead the resolver's address to that of the host, so that its resolv.conf names it. */
  readonly resolves?: boolean;
  /** Why the task has only loopback (NetworkSpec.fallback); undefined: it has what its spec says. */
  readonly lacks?: string;
}

const SUFFIX = ".json";

export class Attachments {
  readonly #directory: string;
  /** The attachments on disk, which only this object writes; undefined: not read yet. */
  #known: Map<string, Attachment> | undefined;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Writes the attachment and syncs it to disk. @throws the errors of the system calls */
  write(attachment: Attachment): void {
    writeDurably(this.#path(attachment.containerId), JSON.stringify(attachment));
    this.#all().set(attachment.containerId, attachment);
  }

  read(containerId: string): Attachment | undefined {
    return this.#all().get(containerId);
  }

  remove(containerId: string): void {
    const path = this.#path(containerId);
    // A kill may have left what was being written.
    for (const one of [path, `${path}.new`]) removeOwnFile(one);
    this.#all().delete(containerId);
  }

  ids(): string[] {
    return [...this.#all().keys()];
  }

  all(): Attachment[] {
    return [...this.#all().values()];
  }

  /** The task that has an address in a network. undefined: none has, but perhaps `except`. */
  holderOf(network: string, address: string, except: string): string | undefined {
    const others = this.all().filter(({ containerId }) => containerId !== except);
    return others.find(({ results, steps }) => results?.some((one, at) => steps[at]?.name === network && hasAddress(one, address)))
      ?.containerId;
  }

  #all(): Map<string, Attachment> {
    this.#known ??= new Map(this.#files().map((id) => [id, this.#parsed(id)]));
    return this.#known;
  }

  #files(): string[] {
    if (!existsSync(this.#directory)) return [];
    return readdirSync(this.#directory).flatMap((name) => (name.endsWith(SUFFIX) ? [name.slice(0, -SUFFIX.length)] : []));
  }

  /** A file that cannot be read counts as an attachment without steps, whose leftovers are found by the id of the task. */
  #parsed(containerId: string): Attachment {
    try {
      const {
        steps,
        results,
        bootId,
        namespace,
        nat = [],
        filter,
        reachesMetadata,
        resolves = false,
        lacks,
      } = JSON.parse(readOwnFile(this.#path(containerId)).toString()) as Attachment;
      if (Array.isArray(steps) && typeof namespace === "string")
        return {
          containerId,
          bootId,
          namespace,
          steps,
          results,
          nat,
          resolves,
          ...(filter === "nft" ? { filter } : {}),
          ...(lacks === undefined ? {} : { lacks }),
          ...(reachesMetadata === undefined ? {} : { reachesMetadata }),
        };
    } catch (error) {
      unlessShortage(error);
      // Invalid JSON, and what is no file of this engine's, is handled like a file of another format.
    }
    return { containerId, bootId: "", namespace: "", steps: [], results: null };
  }

  #path(containerId: string): string {
    return join(this.#directory, `${containerId}${SUFFIX}`);
  }
}

/** @throws the errors of the system calls */
export function writeDurably(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeAtomically(path, text, { durability: "file-and-directory" });
}
