/** Device rules as the plan carries them and as cgroup v1 files take them. */

/** One exception to the list's default; -1 is the wildcard. */
export interface DeviceException {
  readonly type: "b" | "c";
  readonly major: number;
  readonly minor: number;
  /** Subset of "rwm", in this order. */
  readonly access: string;
}

/** What is left of a rule list when it has been played: a default and the exceptions to it, sorted. */
export interface DeviceList {
  readonly defaultAllow: boolean;
  readonly exceptions: readonly DeviceException[];
}

const ALL = "rwm";

function number(value: number): string {
  return value < 0 ? "*" : String(value);
}

/** "c 136:* rwm", as devices.allow and devices.deny take it. */
export function ruleText({ type, major, minor, access }: DeviceException): string {
  return `${type} ${number(major)}:${number(minor)} ${access}`;
}

/** type:major:minor:access:allow|deny, the default first: the form of the operation `cgroup.devices`. */
export function encodeRules({ defaultAllow, exceptions }: DeviceList): string[] {
  const verdict = (allow: boolean) => (allow ? "allow" : "deny");
  return [
    `a:*:*:${ALL}:${verdict(defaultAllow)}`,
    ...exceptions.map(({ type, major, minor, access }) => `${type}:${number(major)}:${number(minor)}:${access}:${verdict(!defaultAllow)}`),
  ];
}

/** The inverse of `encodeRules`. */
export function decodeRules(rules: readonly string[]): DeviceList {
  const [first = "", ...rest] = rules;
  const value = (text: string) => (text === "*" ? -1 : Number(text));
  return {
    defaultAllow: first.endsWith(":allow"),
    exceptions: rest.map((rule) => {
      const [type = "", major = "", minor = "", access = ""] = rule.split(":");
      return { type: type === "b" ? "b" : "c", major: value(major), minor: value(minor), access };
    }),
  };
}
