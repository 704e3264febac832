/** The dry run: the very plan that create would execute. */
import { compileBundle } from "../container/compile.ts";
import type { CreateOptions } from "../container/options.ts";
import { RuntError } from "../errors/index.ts";
import * as host from "../host/index.ts";
import { planJson } from "../plan/json.ts";
import { printPlan } from "../plan/print.ts";
import { text, type VerbContext } from "./context.ts";
import { print } from "./output.ts";

export function printDryRun(context: VerbContext, request: CreateOptions): number {
  const format = text(context.flags["format"]) ?? "text";
  if (format !== "text" && format !== "json") throw new RuntError("usage", `invalid format "${format}": use text or json`);
  const { plan, warnings } = compileBundle(context.options, request);
  const json = planJson(plan);
  if (format === "json") {
    print(`${json}\n`);
    return 0;
  }
  print(`# sha256:${host.sha256(json).slice(0, 12)}, ${plan.ops.length} operations for ${request.bundle}\n${printPlan(plan)}`);
  for (const warning of warnings) print(`warning: ${warning}\n`);
  return 0;
}
