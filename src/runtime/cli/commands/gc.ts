import { type Collected, type Collection, collect } from "../../diagnostics/gc/index.ts";
import { RuntError } from "../../errors/index.ts";
import { printable } from "../../errors/printable/index.ts";
import { text, type Verb } from "../context.ts";
import { print, table } from "../output.ts";

export const verb: Verb = ({ options, flags }) => {
  const format = text(flags["format"]) ?? "text";
  if (format !== "text" && format !== "json") throw new RuntError("usage", `invalid format "${format}": use text or json`);
  const collection = collect(options, flags["dry-run"] === true);
  print(format === "json" ? `${JSON.stringify(collection, null, 2)}\n` : describe(collection));
  const failures = collection.objects.filter(({ outcome }) => outcome === "failed");
  if (failures.length > 0) throw failure(failures);
  return 0;
};

/** Nothing when there is nothing to tell. */
function describe({ objects, otherRoots }: Collection): string {
  const rows = objects.map(({ outcome, kind, id = "-", paths, reason, processes }) => [
    outcome,
    kind,
    id,
    paths.length > 1 ? `${paths[0]} (and ${paths.length - 1} more)` : (paths[0] ?? "-"),
    processes ? `${reason}: ${processes.join(" ")}` : reason,
  ]);
  const found = rows.length === 0 ? "" : table([["OUTCOME", "KIND", "ID", "PATH", "REASON"], ...rows]);
  return found + otherRoots.map((root) => `not looked at: containers of runt --root ${printable(root)}\n`).join("");
}

function failure(failures: readonly Collected[]): RuntError {
  const [{ paths, reason } = { paths: [], reason: "" }, ...others] = failures;
  const more = others.length > 0 ? ` (and ${others.length} more)` : "";
  return new RuntError("gc", `cannot remove ${paths[0]}: ${reason}${more}`);
}
