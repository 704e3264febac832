/**
 * src/shared/protocol and the errors of src/shared/linux -> the C headers that say the same, so that the two languages cannot drift: a name that
 * only one side has does not compile.
 *
 * Usage: tsx tools/gen-protocol.ts DIRECTORY
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import * as protocol from "../src/shared/protocol/index.ts";
import { errorsHeader } from "./gen-protocol/errors.ts";
import { exitRecordHeader, logHeader, monitorHeader } from "./gen-protocol/monitor.ts";
import { operationsHeader, planHeader } from "./gen-protocol/operations.ts";
import type { Protocol } from "./gen-protocol/protocol.ts";
import { messagesHeader, pageHeader, traceAreaHeader } from "./gen-protocol/rendezvous.ts";
import { embeddedHeader, preparedHeader, stateSummaryHeader } from "./gen-protocol/tables.ts";

/** File -> text. */
export function headers(of: Protocol): Readonly<Record<string, string>> {
  return {
    "embedded.h": embeddedHeader(of),
    "errors.h": errorsHeader(),
    "exit_record.h": exitRecordHeader(of),
    "log.h": logHeader(of),
    "messages.h": messagesHeader(of),
    "monitor.h": monitorHeader(of),
    "operations.h": operationsHeader(of),
    "page.h": pageHeader(of),
    "plan.h": planHeader(of),
    "prepared.h": preparedHeader(of),
    "state_summary.h": stateSummaryHeader(of),
    "trace_area.h": traceAreaHeader(of),
  };
}

export function writeHeaders(directory: string, of: Protocol): void {
  mkdirSync(directory, { recursive: true });
  for (const [name, text] of Object.entries(headers(of))) writeFileSync(join(directory, name), text);
}

const [, script, directory] = process.argv;
if (script === fileURLToPath(import.meta.url) && directory !== undefined) writeHeaders(directory, protocol);
