import type { DeviceRule, ResourceConfig } from "../../config/index.ts";
import { RuntError } from "../../errors/index.ts";
import { type DeviceException, type DeviceList, encodeRules, ruleText } from "./rule.ts";

type BareRule = Omit<DeviceRule, "from">;

const ANY = -1;
/** Sets of letters as bits: r is 1, w 2, m 4. The index is the set. */
const ACCESS = ["", "r", "w", "rw", "m", "rm", "wm", "rwm"] as const;
const EVERY = 7;

function allow(type: "b" | "c", major: number, minor: number, access: string): BareRule {
  return { allow: true, type, major, minor, access };
}

/**
 * What every container may do, after whatever config.json says: make any node (using it is another matter) and use the
 * devices the specification puts into /dev. Engines rely on runc adding these, /dev/net/tun among them. An annotation drops them
 * (src/runtime/config/derive.ts).
 */
const DEFAULT_RULES: readonly BareRule[] = [
  allow("b", ANY, ANY, "m"),
  allow("c", ANY, ANY, "m"),
  allow("c", 1, 3, "rwm"),
  allow("c", 1, 5, "rwm"),
  allow("c", 1, 7, "rwm"),
  allow("c", 1, 8, "rwm"),
  allow("c", 1, 9, "rwm"),
  allow("c", 5, 0, "rwm"),
  allow("c", 5, 2, "rwm"),
  allow("c", 10, 200, "rwm"),
  allow("c", 136, ANY, "rwm"),
];

/** What they alone leave of "deny all". */
export const USUAL_LIST: DeviceList = {
  defaultAllow: false,
  exceptions: DEFAULT_RULES.map(
    ({ type, major, minor, access }): DeviceException => ({ type: type === "b" ? "b" : "c", major, minor, access }),
  ),
};

interface Entry {
  readonly type: "b" | "c";
  readonly major: number;
  readonly minor: number;
  /** Bits (ACCESS). */
  access: number;
}

/**
 * Play the rules of config.json and the default ones as a cgroup v1 device list would take them, starting from "deny all".
 * What is left stands in the order in which it was asked for.
 * @throws RuntError config-invalid when a rule takes back a part of a wildcard, which a list of exceptions cannot say.
 */
export function allowList({ devices, onlyListedDevices }: Pick<ResourceConfig, "devices" | "onlyListedDevices">): DeviceList {
  let defaultAllow = false;
  const entries = new Map<string, Entry>();
  const play = (type: "b" | "c", rule: BareRule): void => {
    if (rule.allow === defaultAllow) takeBack(entries, type, rule);
    else add(entries, type, rule);
  };
  for (const rule of devices) {
    if (isReset(rule)) {
      defaultAllow = rule.allow;
      entries.clear();
      continue;
    }
    if (rule.type !== "c") play("b", rule);
    if (rule.type !== "b") play("c", rule);
  }
  if (!onlyListedDevices) {
    // As in most containers.
    if (!defaultAllow && entries.size === 0) return USUAL_LIST;
    for (const rule of DEFAULT_RULES) play(rule.type as "b" | "c", rule);
  }
  const exceptions: DeviceException[] = [];
  entries.forEach((entry) => {
    exceptions.push(toException(entry));
  });
  return { defaultAllow, exceptions };
}

function isReset({ type, major, minor, access }: BareRule): boolean {
  return type === "a" && major === ANY && minor === ANY && bitsOf(access) === EVERY;
}

/** Other letters count for nothing. */
function bitsOf(access: string): number {
  if (access === "rwm") return EVERY;
  const bits = ACCESS.indexOf(access as (typeof ACCESS)[number]);
  return bits >= 0 ? bits : (access.includes("r") ? 1 : 0) | (access.includes("w") ? 2 : 0) | (access.includes("m") ? 4 : 0);
}

function add(entries: Map<string, Entry>, type: "b" | "c", { major, minor, access }: BareRule): void {
  const key = `${type}:${major}:${minor}`;
  const entry = entries.get(key);
  if (entry === undefined) entries.set(key, { type, major, minor, access: bitsOf(access) });
  else entry.access |= bitsOf(access);
}

/** Exceptions that the rule covers lose its letters; one that is wider than the rule cannot be cut. */
function takeBack(entries: Map<string, Entry>, type: "b" | "c", rule: BareRule): void {
  const access = bitsOf(rule.access);
  for (const [key, entry] of entries) {
    if (entry.type !== type || (entry.access & access) === 0) continue;
    if (!overlaps(entry.major, rule.major) || !overlaps(entry.minor, rule.minor)) continue;
    if (!covers(rule.major, entry.major) || !covers(rule.minor, entry.minor)) throw holePunched(type, rule, entry);
    entry.access &= ~access;
    if (entry.access === 0) entries.delete(key);
  }
}

function covers(outer: number, inner: number): boolean {
  return outer === ANY || outer === inner;
}

function overlaps(one: number, other: number): boolean {
  return covers(one, other) || covers(other, one);
}

function holePunched(type: string, { allow: allowed, major, minor }: BareRule, entry: Entry): RuntError {
  const name = (numbers: { readonly major: number; readonly minor: number }) =>
    [numbers.major, numbers.minor].map((value) => (value === ANY ? "*" : value)).join(":");
  return new RuntError(
    "config-invalid",
    `device rules cannot ${allowed ? "allow" : "deny"} ${type} ${name({ major, minor })} out of the wildcard ${type} ${name(entry)} given before`,
    { pointer: "/linux/resources/devices" },
  );
}

function toException({ type, major, minor, access }: Entry): DeviceException {
  return { type, major, minor, access: ACCESS[access] ?? "" };
}

export const USUAL_RULES: readonly string[] = encodeRules(USUAL_LIST);
const USUAL_EXCEPTIONS: readonly string[] = USUAL_LIST.exceptions.map(ruleText);

/**
 * The rules of most containers as text: made once, when runt is built, for they stand in the engine
 * image (docs/decisions/0007-engine-image.md). What the configuration allows, as the operation
 * `cgroup.devices` takes it. @throws RuntError config-invalid
 */
export function rulesOf(resources: Pick<ResourceConfig, "devices" | "onlyListedDevices">): readonly string[] {
  const list = allowList(resources);
  return list === USUAL_LIST ? USUAL_RULES : encodeRules(list);
}

/** The exceptions of a list, as devices.allow and devices.deny take them. */
export function exceptionTexts(list: DeviceList): readonly string[] {
  return list === USUAL_LIST ? USUAL_EXCEPTIONS : list.exceptions.map(ruleText);
}
