import type { Verb } from "../context.ts";
import { createOptions } from "../create-options.ts";
import { printDryRun } from "../print-plan.ts";

export const verb: Verb = (context) =>
  printDryRun(
    context,
    createOptions(context, context.positionals[0] ?? bundleName(context.flags["bundle"]), context.flags["run"] ? "run" : "create"),
  );

/** Without an id the plan is printed for one named after the bundle. */
function bundleName(bundle: unknown): string {
  const name = typeof bundle === "string" ? bundle.replace(/\/+$/, "").split("/").at(-1)! : "";
  return /^[\w+\-.]+$/.test(name) && !/^\.\.?$/.test(name) ? name : "container";
}
