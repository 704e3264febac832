import type { SeccompProfile, SeccompRule } from "../../config/index.ts";

/** runc's limit: up to here a list of comparisons is as fast as a tree of them. */
const LINEAR_RULES = 32;
/** SCMP_FLTATR_CTL_OPTIMIZE: a binary tree by system call number. */
const BINARY_TREE = 2;

/**
 * The canonical text of a profile, which `host.seccompCompile` reads and which the cache's key is made of. Unambiguous: every word
 * is a decimal number, a keyword or a name without blank and newline, and everything that influences the filter is in it.
 */
export function profileText({ defaultAction, architectures, rules, idle }: SeccompProfile): string {
  const lines = [`default ${defaultAction}`, ...architectures.map((token) => `arch ${token}`)];
  if (rules.reduce((sum, { names }) => sum + names.length, 0) > LINEAR_RULES) lines.push(`optimize ${BINARY_TREE}`);
  if (idle.length > 0) lines.push(`known ${idle.join(" ")}`);
  for (const rule of rules) if (rule.names.length > 0) lines.push(ruleText(rule));
  return `${lines.join("\n")}\n`;
}

function ruleText({ action, names, conditions }: SeccompRule): string {
  const tests = conditions.map(({ index, operator, value, valueTwo }) => `${index}:${operator}:${value}:${valueTwo}`).join(",");
  return `rule ${action} ${tests === "" ? "-" : tests} ${names.join(" ")}`;
}
