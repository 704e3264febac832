import { type Collected, type Collection, collect } from "../../diagnostics/gc/index.ts";
import { printable, RuntError } from "../../errors/index.ts";
import { defaultRoot, text, type Verb } from "../context.ts";
import { print, table } from "../output.ts";

export const verb: Verb = ({ options, flags }) => {
  const format = text(flags["format"]) ?? "text";
  if (format !== "text" && format !== "json") throw new RuntError("usage", `invalid format "${format}": use text or json`);
  const needsYes = flags["yes"] !== true && flags["dry-run"] !== true && !isBelowDefault(options.root);
  const collection = collect(options, needsYes || flags["dry-run"] === true);
  print(format === "json" ? `${JSON.stringify(collection, null, 2)}\n` : describe(collection, needsYes));
  const failures = collection.objects.filter(({ outcome }) => outcome === "failed");
  if (failures.length > 0) throw failure(failures);
  return 0;
};

/** Anywhere else --root may be a mistake, so that it is shown first what would be removed. */
function isBelowDefault(root: string): boolean {
  return `${root}/`.startsWith(`${defaultRoot()}/`);
}

/** Nothing when there is nothing to tell. */
function describe({ root, objects, otherRoots }: Collection, needsYes: boolean): string {
  const rows = objects.map(({ outcome, kind, id = "-", paths, reason, processes }) => [
    outcome,
    kind,
    id,
    paths.length > 1 ? `${paths[0]} (and ${paths.length - 1} more)` : (paths[0] ?? "-"),
    processes ? `${reason}: ${processes.join(" ")}` : reason,
  ]);
  const found = rows.length === 0 ? "" : table([["OUTCOME", "KIND", "ID", "PATH", "REASON"], ...rows]);
  const isHeld = needsYes && objects.some(({ outcome }) => outcome === "found");
  const held = isHeld ? `nothing was removed: ${printable(root)} is not below ${defaultRoot()}; gc --yes removes what was found\n` : "";
  return found + held + otherRoots.map((root) => `not looked at: containers of runt --root ${printable(root)}\n`).join("");
}

function failure(failures: readonly Collected[]): RuntError {
  const [{ paths, reason } = { paths: [], reason: "" }, ...others] = failures;
  const more = others.length > 0 ? ` (and ${others.length} more)` : "";
  return new RuntError("gc", `cannot remove ${paths[0]}: ${reason}${more}`);
}
