import { type Inspection, inspect } from "../../diagnostics/inspect/index.ts";
import { printable, RuntError } from "../../errors/index.ts";
import { text, type Verb } from "../context.ts";
import { print } from "../output.ts";

export const verb: Verb = ({ options, flags, positionals }) => {
  const format = text(flags["format"]) ?? "json";
  if (format !== "json" && format !== "text") throw new RuntError("usage", `invalid format "${format}": use json or text`);
  const inspection = inspect(options, positionals[0]!);
  print(format === "json" ? `${JSON.stringify(inspection, null, 2)}\n` : report(inspection));
  return 0;
};

function report({ state, planDigest, warnings, operations, cgroup, processes, settings, drift }: Inspection): string {
  return [
    `${state.id}  ${state.status}  pid ${state.pid}  ${state.bundle}`,
    ...(planDigest === undefined ? [] : [`plan     ${planDigest}`]),
    ...(cgroup?.unit === undefined ? [] : [`unit     ${cgroup.unit}`]),
    ...(cgroup?.paths ?? []).map((path) => `cgroup   ${path}`),
    ...(processes === undefined ? [] : [`processes ${processes.join(" ") || "none"}`]),
    ...warnings.map((warning) => `warning: ${warning}`),
    ...operations.map(({ actor, pid, number, op, description }) =>
      `in operation ${number} ${op} ${description ?? ""} (${actor}, pid ${pid})`.replace(/ +/g, " "),
    ),
    ...rows(settings),
    ...(settings.length === 0 ? [] : [drift === 0 ? "no drift" : `${drift} of ${settings.length} settings differ`]),
    "",
  ]
    .map(printable)
    .join("\n");
}

const UNKNOWN = "-";
const WIDEST = 44;

/** Asked beside kernel; what differs is marked. */
function rows(settings: Inspection["settings"]): string[] {
  if (settings.length === 0) return [];
  const cells = settings.map(({ group, name, asked = UNKNOWN, kernel = UNKNOWN, drift }) => [
    group,
    name,
    short(asked),
    short(kernel),
    drift ? "DRIFT" : "",
  ]);
  const table = [["", "SETTING", "ASKED", "KERNEL", ""], ...cells];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...table.map((row) => row[column]!.length)) + 2);
  return table.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("")
      .trimEnd(),
  );
}

/** A list of capabilities is too long for a table; the JSON form has all of it. */
function short(value: string): string {
  return value.length > WIDEST ? `${value.slice(0, WIDEST - 1)}…` : value;
}
