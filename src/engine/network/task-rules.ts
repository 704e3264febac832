/** Rules in the namespaces of tasks, by the packet filter that the engine has chosen for the host. */
import type { ReachedService, TaskRules } from "../plan/index.ts";
import { output } from "./command.ts";
import { NetworkError } from "./errors.ts";
import type { FilterKind } from "./filter/filter.ts";
import type { InsideRules } from "./filter/inside.ts";
import { INSIDE_IPTABLES, SERVICE_CHAIN } from "./filter/inside-iptables.ts";
import { beforeServices, INSIDE_NFT, SERVICE_TABLE } from "./filter/inside-nft.ts";
import { removalOfChain } from "./filter/nft-chains.ts";
import type { ProgramInput } from "./namespace.ts";

/** The chain is called by the packets of the namespace once its rules are there. */
const SET_BY_IPTABLES = `iptables-restore --noflush --wait 5 || exit
for t in nat filter; do iptables --wait 5 -t $t -C OUTPUT -j "$1" 2>/dev/null || iptables --wait 5 -t $t -A OUTPUT -j "$1" || exit; done`;
/** Prints the chains OUTPUT of iptables, as nft sees them, of tables that have the chain. */
const FIND_CHAINS = `for t in nat filter; do
  if ! e=$(nft list chain ip $t "$1" 2>&1 >/dev/null); then
    case $e in *"No such file or directory"*) continue;; esac
    echo "$e" >&2; exit 1
  fi
  nft -j list chain ip $t OUTPUT || exit
done`;
/** What nft has written; nothing where it has not, or is not installed. */
const REMOVE_TABLE = `command -v nft >/dev/null || exit 0; if nft list table $1 >/dev/null 2>&1; then exec nft delete table $1; fi`;
/** The tables of iptables-legacy are not those that nft shows. */
const REMOVE_LEGACY = `for t in filter nat; do
  grep -qx $t /proc/net/ip_tables_names 2>/dev/null || continue
  p=iptables-legacy; command -v $p >/dev/null || p=iptables
  command -v $p >/dev/null || { echo "the namespace has rules of iptables-legacy, which is not installed" >&2; exit 1; }
  $p --wait 5 -t $t -C OUTPUT -j "$1" 2>/dev/null || continue
  $p --wait 5 -t $t -D OUTPUT -j "$1" && $p --wait 5 -t $t -F "$1" && $p --wait 5 -t $t -X "$1" || exit
done`;

/** A program in the namespace of a task that runs ends by itself at once. The task may hold it up there, for example by changing its own rules all the time. */
export const INSIDE_MS = 5_000;

export type { ReachedService };

export interface TaskNamespaceRulesOptions {
  /** Of the host. @throws NetworkError: there is no packet filter that works */
  readonly kind: () => Promise<FilterKind>;
  /** Milliseconds for one program while the network of a task is made. */
  readonly timeoutMs: number;
  /** Something could not be done that is not needed. */
  readonly onWarning: (message: string) => void;
}

export class TaskNamespaceRules {
  readonly #options: TaskNamespaceRulesOptions;
  /** Paths of namespaces in which the other program has no rules for services. */
  readonly #own = new Set<string>();

  constructor(options: TaskNamespaceRulesOptions) {
    this.#options = options;
  }

  /** @param host NetworkPlan.resolver. @throws NetworkError program-missing, program-failed */
  async resolver(host: string | undefined): Promise<ProgramInput | undefined> {
    if (host === undefined) return undefined;
    const { program, resolver } = await this.#rendering();
    return { program, input: resolver(host) };
  }

  /** @param rules NetworkPlan.rules. @throws NetworkError program-missing, program-failed */
  async write(path: string, rules: TaskRules | undefined): Promise<void> {
    if (rules === undefined) return;
    const { program, task } = await this.#rendering();
    await this.#in(path, program, task(rules), this.#options.timeoutMs);
  }

  /**
   * What is given takes the place of what was there. Rules of the other program, which an earlier process has chosen, are removed once the new ones are there, so that at every moment the
   * address of a service has rules. @param rules NetworkPlan.rules, which come before services. @throws NetworkError program-missing, program-failed
   */
  async serve(path: string, services: readonly ReachedService[], rules: TaskRules | undefined): Promise<void> {
    const isOwn = this.#own.has(path);
    if ((await this.#options.kind()) === "nft") {
      const removal = isOwn ? [] : removalOfChain(SERVICE_CHAIN, await this.#run(path, FIND_CHAINS, SERVICE_CHAIN));
      const before = isOwn ? "" : beforeServices(rules);
      await this.#in(path, INSIDE_NFT.program, before + INSIDE_NFT.services(services) + removal.map((line) => `${line}\n`).join(""));
      if (!isOwn) await this.#removeLegacy(path);
    } else {
      await this.#run(path, SET_BY_IPTABLES, SERVICE_CHAIN, INSIDE_IPTABLES.services(services));
      if (!isOwn) await this.#run(path, REMOVE_TABLE, SERVICE_TABLE);
    }
    this.#own.add(path);
  }

  /** What stays comes after the chains of nft, which decide. The task may have rules of its own there, and the host no program that knows them. */
  async #removeLegacy(path: string): Promise<void> {
    try {
      await this.#run(path, REMOVE_LEGACY, SERVICE_CHAIN);
    } catch (error) {
      if (!(error instanceof NetworkError)) throw error;
      this.#options.onWarning(
        `rules for services that iptables-legacy has perhaps made in a task's namespace stay there: ${error.message}`,
      );
    }
  }

  /** The namespace was made just now. */
  isNew(path: string): void {
    this.#own.add(path);
  }

  /** The namespace is gone. */
  forget(path: string): void {
    this.#own.delete(path);
  }

  async #rendering(): Promise<InsideRules> {
    return (await this.#options.kind()) === "nft" ? INSIDE_NFT : INSIDE_IPTABLES;
  }

  #run(path: string, script: string, argument: string, input = ""): Promise<string> {
    return this.#in(path, ["sh", "-c", script, "sh", argument], input);
  }

  #in(path: string, command: readonly string[], input = "", timeoutMs = Math.min(INSIDE_MS, this.#options.timeoutMs)): Promise<string> {
    return output("nsenter", [`--net=${path}`, ...command], timeoutMs, input);
  }
}
