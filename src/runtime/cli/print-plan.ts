/** The dry run: the very plan that create would execute, here or for another host. */
import { sandboxOf } from "../config/index.ts";
import { printable, RuntError } from "../errors/index.ts";
import * as host from "../host/index.ts";
import { type Plan, planJson, printMermaid, printPlan, printSandbox, systemCallsOf } from "../plan/index.ts";
import {
  type CreateOptions,
  chosenHostFacts,
  compileDigested,
  type DigestedPlan,
  type HostProbe,
  LIVE,
  type RuntimeOptions,
  recordedProbe,
} from "../prepare/index.ts";
import { text, type VerbContext } from "./context.ts";
import { print } from "./output.ts";

type Form = (plan: DigestedPlan, explain: boolean) => string;

const FORMS: Readonly<Record<string, Form>> = {
  text: (digested, explain) => {
    const { config, digest, guest, parts, plan, warnings } = digested;
    const sandbox = sandboxOf(config);
    const lines = [
      `# ${digest}, ${plan.ops.length} operations`,
      ...(explain ? Object.entries(parts).map(([name, part]) => `# ${name.padEnd(7)} ${part}`) : []),
    ];
    const printed = (part: Plan): string => printPlan(part, explain ? { explain: systemCallsOf } : {});
    const inside = guest ? `# in the machine: ${guest.ops.length} operations\n${printed(guest)}` : "";
    return `${lines.join("\n")}\n${printed(plan)}${inside}${sandbox ? printSandbox(sandbox) : ""}${warnings.map((warning) => `warning: ${printable(warning)}\n`).join("")}`;
  },
  json: ({ config, guest, plan, digest, parts, answers, sources, warnings }) =>
    `${planJson({ ...plan, digest, parts, host: answers, sources, warnings, ...(guest && { guest }), sandbox: sandboxOf(config) } as typeof plan)}\n`,
  mermaid: ({ plan }) => printMermaid(plan),
};

export function printDryRun(context: VerbContext, request: CreateOptions): number {
  const { flags } = context;
  const format = text(flags["format"]) ?? "text";
  const form = Object.hasOwn(FORMS, format) ? FORMS[format] : undefined;
  if (form === undefined) throw new RuntError("usage", `invalid format "${format}": use text, json or mermaid`);
  const { options, probe } = chosenHost(context);
  const output = form(compileDigested(options, request, probe), flags["explain"] === true);
  const file = text(flags["out"]);
  if (file === undefined) print(output);
  else writeOut(file, output);
  return 0;
}

/** Only on request, and a file that cannot be written is no plan. */
function writeOut(file: string, output: string): void {
  try {
    host.writeFile(file, output, host.O.WRONLY | host.O.CREAT | host.O.TRUNC, 0o644);
  } catch (error) {
    throw new RuntError("usage", `open ${file}: ${host.reason(error)}`, { cause: error });
  }
}

/** `--host live|none|FILE`: on which host a bundle is looked at, and the options as its caller would have them there. */
interface ChosenHost {
  readonly probe: HostProbe;
  readonly options: RuntimeOptions;
  /** "live host", "no host", "host of FILE". */
  readonly name: string;
}

/** @throws RuntError host-facts */
function chosenHost({ flags, options, rootGiven, rootlessGiven }: VerbContext): ChosenHost {
  const value = text(flags["host"]);
  if (value === undefined || value === "live") return { probe: LIVE, options, name: "live host" };
  const facts = chosenHostFacts(value);
  const { uid, inUserNamespace, stateRoot } = facts.caller;
  return {
    probe: recordedProbe(facts),
    name: value === "none" ? "no host" : `host of ${value}`,
    options: {
      ...options,
      root: rootGiven ? options.root : (stateRoot ?? options.root),
      rootless: rootlessGiven ? options.rootless : uid !== 0 || inUserNamespace,
    },
  };
}
