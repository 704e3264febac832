import type { HostFacts } from "../../check/index.ts";
import { measureCgroupMoves } from "../../diagnostics/index.ts";
import { printable, RuntError } from "../../errors/index.ts";

import * as host from "../../host/index.ts";
import { type FeatureRow, featureRows, recordHostFacts } from "../../prepare/index.ts";

import { text, type Verb } from "../context.ts";
import { print } from "../output.ts";

export const verb: Verb = ({ options, flags, rootGiven }) => {
  const format = text(flags["format"]) ?? "text";
  if (format !== "text" && format !== "json") throw new RuntError("usage", `invalid format "${format}": use text or json`);
  // What --root says today says nothing about other callers.
  const recorded = recordHostFacts(rootGiven ? undefined : options.root);
  const facts = flags["measure"] === true ? { ...recorded, ...measured() } : recorded;
  print(format === "json" ? `${JSON.stringify(facts, null, 2)}\n` : report(featureRows(facts)));
  return 0;
};

/** It makes a cgroup, where nothing else here writes. */
function measured(): Pick<HostFacts, "cgroupMoves"> {
  try {
    const cgroupMoves = measureCgroupMoves();
    return cgroupMoves ? { cgroupMoves } : {};
  } catch (error) {
    throw new RuntError("cgroup", `cannot measure moves into a cgroup: ${host.reason(error)}`, { cause: error });
  }
}

const MARKS = { available: "ok", partly: "partly", missing: "missing", unknown: "unknown" } as const;
const NAME_WIDTH = 20;
const MARK_WIDTH = 9;

/** What is there takes one line; what is not says what it is for and what to do. */
function report(rows: readonly FeatureRow[]): string {
  const lines = rows.flatMap(({ feature, availability, detail, need, fix }) => {
    const head = `${MARKS[availability].padEnd(MARK_WIDTH)}${feature.padEnd(NAME_WIDTH)}${detail}`.trimEnd();
    const blank = " ".repeat(MARK_WIDTH + NAME_WIDTH);
    const todo = `${blank}${availability === "unknown" ? "see" : "fix"}: ${fix}`;
    return availability === "available" ? [head] : [head, `${blank}for: ${need}`, todo];
  });
  const count = (wanted: FeatureRow["availability"]) => rows.filter(({ availability }) => availability === wanted).length;
  const summary = `${count("available")} of ${rows.length} available, ${count("partly")} partly, ${count("missing")} missing, ${count("unknown")} unknown`;
  return `${[...lines, summary].map(printable).join("\n")}\n`;
}
