/** How the monitor is started, and the record that it ends. */
import type { MonitorValue } from "../../src/shared/protocol/index.ts";
import { constant, header, identifier, macro } from "./c.ts";
import type { Protocol } from "./protocol.ts";

const C_TYPE: Readonly<Record<MonitorValue, string>> = { number: "int ", descriptor: "int ", count: "uint64_t ", text: "const char *" };

export function monitorHeader({ MONITOR_OPTIONS, MONITOR_STEP }: Protocol): string {
  const options = Object.entries(MONITOR_OPTIONS);
  return header(
    "monitor",
    "/* X(identifier, option, kind of its value). */",
    ["#define MONITOR_OPTIONS(X) \\", options.map(([name, kind]) => `  X(${identifier(name)}, "--${name}", ${kind})`).join(" \\\n")].join(
      "\n",
    ),
    ["struct monitor_options {", ...options.map(([name, kind]) => `  ${C_TYPE[kind]}${identifier(name)};`), "};"].join("\n"),
    ...Object.entries(MONITOR_STEP).map(([name, word]) => macro(constant("MONITOR", name), JSON.stringify(word))),
  );
}

export function logHeader({ LOG_FIELD }: Protocol): string {
  return header("log", ...Object.entries(LOG_FIELD).map(([name, text]) => macro(constant("LOG_FIELD", name), JSON.stringify(text))));
}

export function exitRecordHeader({ EXIT_FIELD, EXIT_PHASE }: Protocol): string {
  return header(
    "exit_record",
    ...Object.entries(EXIT_FIELD).map(([name, text]) => macro(constant("EXIT_FIELD", name), JSON.stringify(text))),
    ...Object.entries(EXIT_PHASE).map(([name, text]) => macro(constant("EXIT_PHASE", name), JSON.stringify(text))),
  );
}
