import { type ContainerState, type ListRow, list } from "../../container/describe.ts";
import { RuntError } from "../../errors/index.ts";
import * as host from "../../host/index.ts";
import { text, type Verb } from "../context.ts";
import { print, table } from "../output.ts";
import { userName } from "../users.ts";

export const verb: Verb = ({ options, flags, rootGiven }) => {
  const format = text(flags["format"]) ?? "table";
  if (format !== "table" && format !== "json") throw new RuntError("usage", `invalid format option: ${format} (use table or json)`);
  if (rootGiven && !host.stat(options.root)) throw new RuntError("state-root", `open ${options.root}: no such file or directory`);
  const rows = list(options, userName);
  if (flags["quiet"]) print(rows.map((row) => `${idOf(row)}\n`).join(""));
  else if (format === "json") print(jsonList(rows));
  else print(table([["ID", "PID", "STATUS", "BUNDLE", "CREATED", "OWNER"], ...rows.map(tableRow)]));
  return 0;
};

function idOf(row: ListRow): string {
  return "state" in row ? row.state.id : row.id;
}

/** runc prints null, not [], when there is nothing; programs know that form. */
function jsonList(rows: readonly ListRow[]): string {
  if (rows.length === 0) return "null\n";
  return `${JSON.stringify(rows.map((row) => ("state" in row ? row.state : { id: row.id, status: "unreadable", error: row.unreadable })))}\n`;
}

function tableRow(row: ListRow): string[] {
  return "state" in row ? stateRow(row.state) : [row.id, "-", "unreadable", row.unreadable, "-", "-"];
}

function stateRow({ id, pid, status, bundle, created, owner }: ContainerState): string[] {
  return [id, String(pid), status, bundle, created, owner];
}
