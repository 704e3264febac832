import { RuntError } from "../../errors/index.ts";
import * as host from "../../host/index.ts";
import { toState } from "../../state/index.ts";
import { type ListVisitor, list } from "../../verbs/index.ts";
import { text, type Verb } from "../context.ts";
import { MINIMUM_WIDTH, print } from "../output.ts";
import { userName } from "../users.ts";

export const verb: Verb = ({ options, flags, rootGiven }) => {
  const format = text(flags["format"]) ?? "table";
  if (format !== "table" && format !== "json") throw new RuntError("usage", `invalid format option: ${format} (use table or json)`);
  if (rootGiven && !host.stat(options.root)) throw new RuntError("state-root", `open ${options.root}: no such file or directory`);
  if (flags["quiet"]) {
    list(options, QUIET);
    host.writeRows(1, 0);
  } else if (format === "json") {
    const rows: string[] = [];
    list(options, jsonRows(rows));
    // runc prints null, not [], when there is nothing; programs know that form.
    print(rows.length === 0 ? "null\n" : `[${rows.join(",")}]\n`);
  } else {
    host.addRow("ID", "PID", "STATUS", "BUNDLE", "CREATED", "OWNER");
    list(options, TABLE);
    host.writeRows(1, MINIMUM_WIDTH);
  }
  return 0;
};

const QUIET: ListVisitor = {
  container: ({ id }) => host.addRow(id),
  unreadable: (id) => host.addRow(id),
};

const TABLE: ListVisitor = {
  ownerName: userName,
  container: ({ id, pid, bundle, created, owner }, status) =>
    host.addRow(id, status === "stopped" ? 0 : pid, status, bundle, created, userName(owner)),
  unreadable: (id, why) => host.addRow(id, "-", "unreadable", why, "-", "-"),
};

function jsonRows(rows: string[]): ListVisitor {
  return {
    container: (record, status) => rows.push(JSON.stringify(toState(record, status, userName(record.owner)))),
    unreadable: (id, error) => rows.push(JSON.stringify({ id, status: "unreadable", error })),
  };
}
