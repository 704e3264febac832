/** Why a host cannot give its tasks a bridge. A task with NetworkSpec.fallback then has only loopback. */
import { packageOf } from "../../node/index.ts";
import { isInstalled } from "./command.ts";
import { NetworkError } from "./errors.ts";
import type { FilterKind } from "./filter/filter.ts";
import type { Plugins } from "./plugin.ts";

/** The plugins of a bridge, and the program of each driver of the packet filter. */
const PLUGINS = ["bridge", "host-local"];
const FILTERS: Readonly<Record<FilterKind, string>> = { nft: "nft", iptables: "iptables-restore" };

/** Looks at files only. undefined: all programs are there, and only the attempt tells whether they work. */
export function lackIn(plugins: Pick<Plugins, "locate">, choice: FilterKind | "auto"): string | undefined {
  try {
    for (const type of PLUGINS) plugins.locate(type);
  } catch (error) {
    return (error as Error).message;
  }
  if (!isInstalled("ip")) return missing("ip");
  const filters = choice === "auto" ? Object.values(FILTERS) : [FILTERS[choice]];
  return filters.some(isInstalled) ? undefined : filters.map(missing).join("; ");
}

/**
 * What an error says about the host, and not about one task; undefined: the task has failed for another reason. A kernel without bridges, or without
 * the packet filter, answers EOPNOTSUPP or EPROTONOSUPPORT.
 */
function lackOf(error: unknown): string | undefined {
  if (!(error instanceof NetworkError)) return undefined;
  const isLack = ["plugin-missing", "program-missing", "no-subnet"].includes(error.code);
  return isLack || /\b(?:operation|protocol) not supported\b/i.test(error.message) ? error.message : undefined;
}

function missing(program: string): string {
  return `the program ${program} is not installed: it is in the package ${packageOf(program)}`;
}

/** What is done for one task. */
interface Attempt<T> {
  /** Whether the task can do without its network. */
  readonly hasFallback: boolean;
  /** What is known to be lacking. */
  readonly lacks: string | undefined;
  /** Lets processes join the namespace. */
  readonly open: () => void;
  readonly make: (open: () => void) => Promise<T>;
  readonly fallBack: (lacks: string) => Promise<T>;
}

export class Fallback {
  /** Whether the host has made a bridge for such a task since the start, so that it is able to. */
  #isAble = false;

  /** @throws what `make` throws, unless it is that the host cannot make any network, and the task can do without; what `fallBack` throws */
  async make<T>({ hasFallback, lacks, open, make, fallBack }: Attempt<T>): Promise<T> {
    if (hasFallback && lacks !== undefined) return fallBack(lacks);
    // A process that has joined the namespace could not get another one: only where it is known to work is it let in early.
    const isCertain = !hasFallback || this.#isAble;
    try {
      const made = await make(isCertain ? open : () => {});
      if (hasFallback) this.#isAble = true;
      return made;
    } catch (error) {
      const found = lackOf(error);
      if (isCertain || found === undefined) throw error;
      return fallBack(found);
    }
  }
}
