/** --expect-plan: nothing is done unless the plan is the expected one. Loaded only then. */
import { RuntError } from "../errors/index.ts";
import * as host from "../host/index.ts";
import { canonicalJson, compileDigested, type DigestedPlan, type DigestParts, type MountSource } from "./digest.ts";
import type { CreateOptions, RuntimeOptions } from "./options.ts";

const DIGEST = /^sha256:[0-9a-f]{64}$/;

/**
 * Compile, and compare with a digest ("sha256:...") or with the file that `runt plan -f json` wrote, which also tells what has changed.
 * @throws RuntError plan-changed; usage for what is neither
 */
export function compileExpected(options: RuntimeOptions, request: CreateOptions, expected: string): DigestedPlan {
  const now = compileDigested(options, request);
  const before = expected.startsWith("sha256:") ? undefined : readPlan(expected);
  const digest = before === undefined ? expected : before.digest;
  if (!DIGEST.test(digest))
    throw new RuntError("usage", `--expect-plan ${expected}: not sha256: and 64 hexadecimal digits, nor a plan in JSON`);
  if (now.digest === digest) return now;
  const changes = before === undefined ? [] : describeChanges(before, now);
  throw new RuntError(
    "plan-changed",
    `the plan of "${request.id}" is ${now.digest}, not ${digest} as expected${changes.map((line) => `; ${line}`).join("")}`,
    {
      hint:
        before === undefined
          ? "a plan is made for one id; give the file of runt plan -f json instead of its digest, and what has changed is named"
          : "read the plan again",
    },
  );
}

/** What a plan in JSON says of itself. */
export interface RecordedPlan {
  readonly digest: string;
  readonly parts: DigestParts;
  readonly host: Readonly<Record<string, unknown>>;
  readonly sources: readonly MountSource[];
  readonly id: string;
}

function readPlan(path: string): RecordedPlan {
  let value: unknown;
  try {
    value = JSON.parse(host.readFile(path));
  } catch (error) {
    throw new RuntError("usage", `--expect-plan ${path}: ${error instanceof SyntaxError ? "not JSON" : host.reason(error)}`, {
      cause: error,
    });
  }
  const { digest, parts, host: answers, sources, id } = (value ?? {}) as Partial<RecordedPlan>;
  const sound =
    typeof digest === "string" &&
    typeof parts === "object" &&
    typeof answers === "object" &&
    Array.isArray(sources) &&
    typeof id === "string";
  if (!sound) throw new RuntError("usage", `--expect-plan ${path}: not a plan of runt plan -f json`);
  return value as RecordedPlan;
}

/** The cause comes before its effects: what is in the plan follows from the other three. */
export function describeChanges(before: RecordedPlan, now: Pick<DigestedPlan, "parts" | "answers" | "sources" | "plan">): string[] {
  const changes: string[] = [];
  if (before.id !== now.plan.id) changes.push(`it was made for the id "${before.id}"`);
  if (before.parts.config !== now.parts.config) changes.push("config.json has changed");
  for (const question of new Set([...Object.keys(before.host), ...Object.keys(now.answers)])) {
    if (canonicalJson(before.host[question]) !== canonicalJson(now.answers[question])) changes.push(`the host has changed: ${question}`);
  }
  for (const { from, path, identity } of now.sources) {
    const old = before.sources.find((source) => source.from === from);
    if (old?.path === path && old.identity !== identity)
      changes.push(`${from}/source ${path} is another file (${old.identity}, now ${identity})`);
  }
  if (changes.length === 0) changes.push("the options of the command line are others");
  return changes;
}
