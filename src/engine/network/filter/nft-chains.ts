/** Chains of iptables as nft sees them: iptables of today writes to the same place in the kernel. Pure. */

type Json = Readonly<Record<string, unknown>>;

/** A rule of `nft -j`. Source: libnftables-json(5). */
interface FoundRule {
  readonly table: string;
  readonly chain: string;
  readonly handle: number;
  readonly expr: readonly Json[];
}

/**
 * Lines for `nft -f` that remove a chain and the rules that lead to it, and nothing else.
 * @param text one line of `nft -j list chain` for each table that has the chain: the chain from which rules lead to it. @throws SyntaxError: it is no JSON
 */
export function removalOfChain(name: string, text: string): string[] {
  return text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .flatMap((line) => {
      const { nftables } = JSON.parse(line) as {
        readonly nftables: readonly { readonly chain?: { readonly table: string }; readonly rule?: FoundRule }[];
      };
      const [table] = nftables.flatMap(({ chain }) => (chain === undefined ? [] : [chain.table]));
      const jumps = nftables.flatMap(({ rule }) =>
        rule?.expr.some(({ jump }) => (jump as Json | undefined)?.["target"] === name) ? [rule] : [],
      );
      if (table === undefined) return [];
      return [
        ...jumps.map(({ chain, handle }) => `delete rule ip ${table} ${chain} handle ${handle}`),
        `flush chain ip ${table} ${name}`,
        `delete chain ip ${table} ${name}`,
      ];
    });
}
