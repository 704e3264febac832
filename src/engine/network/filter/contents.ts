/** What is in the tables of nftables, as data, and the lines for `nft -f` that lead from one state to another. Pure. */
import { createHash } from "node:crypto";

/** In which table it is: packets of a bridge pass through the one of the family bridge before the host sees them. Absent: the one of the family ip. */
export interface InTable {
  readonly family?: "bridge" | undefined;
}

/** One element of a set or a map. */
export interface Element extends InTable {
  readonly set: string;
  /** As nft prints it, parts joined by " . ". */
  readonly key: string;
  /** Of a map. */
  readonly value?: string | undefined;
  /** Its comment: who it is for. */
  readonly mark: string;
}

/** A rule is compared by its digest, which is its comment, because nft prints rules in another form than they were written. */
export interface Rule {
  readonly digest: string;
  /** undefined: an earlier process has written it. */
  readonly text?: string | undefined;
}

export interface Chain extends InTable {
  readonly name: string;
  readonly rules: readonly Rule[];
  /** Such as "type nat hook output priority -105;". */
  readonly hook?: string | undefined;
}

export interface Contents {
  readonly elements: readonly Element[];
  readonly chains: readonly Chain[];
}

export const NOTHING: Contents = { elements: [], chains: [] };

/** The longest comment that the kernel's tools take. Source: libnftnl, NFTNL_UDATA_COMMENT_MAXLEN. */
const LONGEST_MARK = 127;
const MARK = "runt: ";

/** The comment of what is for a task. */
export function markOf(id: string): string {
  const whole = MARK + id;
  if (whole.length <= LONGEST_MARK) return whole;
  return `${whole.slice(0, 100)}~${createHash("sha256").update(id).digest("hex").slice(0, 24)}`;
}

/** Id of the task in a comment; undefined: it is of nothing, or of a task whose id is too long for a comment. */
export function taskIn(mark: string): string | undefined {
  return mark.startsWith(MARK) && !mark.includes("~") ? mark.slice(MARK.length) : undefined;
}

export function chainOf(name: string, texts: readonly string[], hook?: string, family?: "bridge"): Chain {
  const rules = texts.map((text) => ({ text, digest: createHash("sha256").update(text).digest("hex").slice(0, 12) }));
  return { name, rules, ...(hook === undefined ? {} : { hook }), ...(family === undefined ? {} : { family }) };
}

/** The table of a family. @param table that of the family ip, such as "ip runt-01234567" */
export function inFamily(table: string, { family }: InTable): string {
  return `${family ?? "ip"} ${table.split(" ")[1]}`;
}

export function together(all: Iterable<Contents>): Contents {
  const each = [...all];
  return { elements: each.flatMap(({ elements }) => elements), chains: each.flatMap(({ chains }) => chains) };
}

/** Without chains whose rules are known by their digests alone and that are gone, and without the elements that lead to them: nobody can write these. */
export function writable({ elements, chains }: Contents, present: Contents): Contents {
  const there = new Set(present.chains.map(nameOf));
  const isLost = (one: Chain) => !there.has(nameOf(one)) && one.rules.some(({ text }) => text === undefined);
  const lost = new Set(chains.filter(isLost).map(({ name }) => name));
  const isKept = ({ value }: Element) => !lost.has(/^(?:goto|jump) (.+)$/.exec(value ?? "")?.[1] ?? "");
  return { elements: elements.filter(isKept), chains: chains.filter(({ name }) => !lost.has(name)) };
}

const keyOf = ({ family, set, key }: Element) => `${family ?? "ip"} ${set} ${key}`;
const nameOf = ({ family, name }: Chain) => `${family ?? "ip"} ${name}`;
const isSameElement = (a: Element, b: Element | undefined) => b !== undefined && a.value === b.value && a.mark === b.mark;
const digestsOf = (chain: Chain | undefined) => chain?.rules.map(({ digest }) => digest).join(" ");

/**
 * @param table such as "ip runt-01234567"
 * @param sets lines that make sets: nft 1.0.6 adds the elements of a new set of intervals together with it, so that chains to which they lead come before
 */
export function changes(table: string, before: Contents, after: Contents, sets: readonly string[] = []): string[] {
  const [old, wanted] = [before, after].map(({ elements }) => new Map(elements.map((one) => [keyOf(one), one])));
  const [oldChains, wantedChains] = [before, after].map(({ chains }) => new Map(chains.map((one) => [nameOf(one), one])));
  const gone = [...old!.values()].filter((one) => !isSameElement(one, wanted!.get(keyOf(one))));
  const added = [...wanted!.values()].filter((one) => !isSameElement(one, old!.get(keyOf(one))));
  // What an earlier process has written is known by its digests alone, and can only stay.
  const written = [...wantedChains!.values()].filter(
    (one) => digestsOf(one) !== digestsOf(oldChains!.get(nameOf(one))) && one.rules.every(({ text }) => text !== undefined),
  );
  const unused = [...oldChains!.values()].filter((one) => !wantedChains!.has(nameOf(one)));
  const at = (one: Chain) => `${inFamily(table, one)} ${one.name}`;
  return [
    ...bySet(table, gone).map(([set, all]) => `delete element ${set} { ${all.map(({ key }) => key).join(", ")} }`),
    ...written.map((one) => `add chain ${at(one)}${one.hook === undefined ? "" : ` { ${one.hook} }`}`),
    ...sets,
    ...written.filter((one) => oldChains!.has(nameOf(one))).map((one) => `flush chain ${at(one)}`),
    ...written.flatMap((one) => one.rules.map(({ text, digest }) => `add rule ${at(one)} ${text} comment "${MARK}${digest}"`)),
    ...bySet(table, added).map(([set, all]) => `add element ${set} { ${all.map(shown).join(", ")} }`),
    ...unused.map((one) => `flush chain ${at(one)}`),
    ...unused.map((one) => `delete chain ${at(one)}`),
  ];
}

function shown({ key, value, mark }: Element): string {
  return `${key} comment "${mark}"${value === undefined ? "" : ` : ${value}`}`;
}

/** By the name of the set with its table. */
function bySet(table: string, all: readonly Element[]): [string, Element[]][] {
  const found = new Map<string, Element[]>();
  for (const one of all) {
    const set = `${inFamily(table, one)} ${one.set}`;
    const elements = found.get(set);
    if (elements === undefined) found.set(set, [one]);
    else elements.push(one);
  }
  return [...found];
}

/** A value of nft's JSON; anything, because it comes from another program. */
type Json = unknown;

/** Reads what `nft -j list table` prints. Source: libnftables-json(5). @throws Error: it is no such text */
export function contentsIn(text: string): Contents {
  const { nftables } = JSON.parse(text) as { nftables: readonly Readonly<Record<string, Readonly<Record<string, Json>>>>[] };
  const elements: Element[] = [];
  const chains = new Map<string, Rule[]>();
  // A text has one table.
  let family: InTable = {};
  for (const one of nftables) {
    const set = one["set"] ?? one["map"];
    if (set !== undefined)
      for (const element of listOf(set["elem"])) elements.push({ ...elementIn(String(set["name"]), element), ...familyIn(set) });
    if (one["chain"] !== undefined) {
      family = familyIn(one["chain"]);
      chains.set(String(one["chain"]["name"]), []);
    }
    if (one["rule"] !== undefined) {
      const { chain, comment = "" } = one["rule"] as { chain: string; comment?: string };
      chains.get(chain)?.push({ digest: comment.startsWith(MARK) ? comment.slice(MARK.length) : comment });
    }
  }
  return { elements, chains: [...chains].map(([name, rules]) => ({ name, rules, ...family })) };
}

function familyIn({ family }: Readonly<Record<string, Json>>): InTable {
  return family === "bridge" ? { family } : {};
}

function elementIn(set: string, found: Json): Element {
  const [key, value] = Array.isArray(found) ? found : [found];
  const { elem } = Object(key) as { elem?: { val: Json; comment?: string } };
  return {
    set,
    key: textOf(elem === undefined ? key : elem.val),
    value: value === undefined ? undefined : textOf(value),
    mark: elem?.comment ?? "",
  };
}

function textOf(value: Json): string {
  if (typeof value !== "object" || value === null) return String(value);
  const { concat, prefix, goto, jump } = value as Record<string, { addr: string; len: number; target: string } & Json[]>;
  if (concat !== undefined) return concat.map(textOf).join(" . ");
  if (prefix !== undefined) return `${prefix.addr}/${prefix.len}`;
  if (goto !== undefined) return `goto ${goto.target}`;
  return jump === undefined ? JSON.stringify(value) : `jump ${jump.target}`;
}

function listOf(value: Json): readonly Json[] {
  return Array.isArray(value) ? value : [];
}
