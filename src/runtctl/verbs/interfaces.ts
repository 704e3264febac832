import { Argument, Option } from "commander";
import type { InterfaceView } from "../../engine/index.ts";
import { parseDuration } from "../../engine/index.ts";
import { EXIT, UsageError } from "../errors.ts";
import { printable } from "../output/style.ts";
import { age, table } from "../output/table.ts";
import { print } from "../platform/index.ts";
import type { Session } from "../session.ts";
import { verb } from "../verb.ts";

interface Options {
  readonly output?: "json";
  readonly for?: string;
}

export const interfaces = verb<Options>({
  name: "interfaces",
  summary: "list interfaces that tasks may take, or announce one (attach, detach)",
  description: [
    "attach announces an interface that another program provides, such as a virtual function, with a deadline. A task takes the interface if its network asks for it (association: attached). If no task takes it in time, the daemon forgets the interface and records an event.",
  ],
  examples: [
    ["interfaces", "list the interfaces and the tasks that have them"],
    ["interfaces attach eth7 --for 10m", "a task may take eth7 within ten minutes"],
  ],
  define: (command) =>
    command
      .addArgument(new Argument("[action]", "what to do").choices(["list", "attach", "detach"]).default("list"))
      .argument("[name]", "of the interface on the host")
      .option("--for <duration>", "attach: how long the interface waits for a task; default: 5m")
      .addOption(new Option("-o, --output <format>", "output format").choices(["json"])),
  async run(session, [action = "list", name], options) {
    if (action === "list") return list(session, name, options);
    if (name === undefined) throw new UsageError(`${action} needs the name of an interface`);
    if (action === "detach" && options.for !== undefined) throw new UsageError("--for is for attach");
    if (action === "attach") await session.client.call("POST", "/v1/interfaces", { name, forMs: waitOf(options) });
    else await session.client.call("DELETE", `/v1/interfaces/${encodeURIComponent(name)}`);
    print(`${printable(name)} ${action}ed`);
    return EXIT.done;
  },
});

async function list({ client }: Session, name: string | undefined, { output, for: wait }: Options): Promise<number> {
  if (name !== undefined || wait !== undefined) throw new UsageError("list takes neither a name nor --for");
  const found = await client.call<{ interfaces: readonly InterfaceView[] }>("GET", "/v1/interfaces");
  if (output === "json") print(JSON.stringify(found.interfaces, null, 2));
  else print(table(["INTERFACE", "WAITS", "TASK"], found.interfaces.map(rowOf)));
  return EXIT.done;
}

function waitOf({ for: text = "5m" }: Options): number {
  const ms = parseDuration(text);
  if (!ms) throw new UsageError(`--for: ${text} is no duration like 10s or 24h`);
  return ms;
}

function rowOf({ name, leftMs, task }: InterfaceView): string[] {
  return [printable(name), leftMs === null ? "" : age(leftMs), task ?? ""];
}
