import { InvalidArgumentError, Option } from "commander";
import { EXIT } from "../errors.ts";
import { followEvents, type Told } from "../event-stream.ts";
import { eventLine } from "../output/event-line.ts";
import { styleFor } from "../output/style.ts";
import { print, stdout } from "../platform/index.ts";
import type { Session } from "../session.ts";
import { verb } from "../verb.ts";

interface Options {
  readonly follow?: true;
  readonly since: number;
  readonly output?: "json";
  readonly allGroups?: true;
}

export const events = verb<Options>({
  name: "events",
  summary: "show events of tasks, by sequence number",
  description: [
    "The sequence numbers continue after a restart of the daemon. The daemon keeps at least the last 10,000 events. If older events are missing, a separate line says so.",
    "With -o json each line is an object with the fields sequence and event, or with the field gap for missing events.",
  ],
  examples: [
    ["events web", "print the events of web"],
    ["events -f --since 120", "print the events after number 120, and continue"],
  ],
  define: (command) =>
    command
      .argument("[name]", "of a task, or its id")
      .option("-f, --follow", "continue with new events")
      .option("--since <number>", "only events after this sequence number", sequenceOf, 0)
      .option("-A, --all-groups", "events of all groups")
      .addOption(new Option("-o, --output <format>", "output format").choices(["json"])),
  async run(session, [name], options) {
    const { lastSequence } = await session.client.call<{ lastSequence: number }>("GET", "/v1/node");
    const isShown = (told: Told) => {
      if (!("event" in told)) return true;
      const { event } = told;
      if (event.type === "watch") return (options.allGroups || event.group === null || event.group === session.group) && name === undefined;
      if (event.type === "packetFilter") return name === undefined;
      // Interfaces belong to the host and not to a group.
      const [group, named] = event.type === "interface" ? [session.group, event.interface] : [event.group, event.name];
      return (
        (options.allGroups || group === session.group) &&
        (name === undefined || named === name || event.task === name || (event.type === "pool" && event.pool === name))
      );
    };
    for await (const told of history(session, options, lastSequence)) if (isShown(told)) show(told, options.output === "json");
    return EXIT.done;
  },
});

/** Without `follow`, it ends with the last event that existed at the start. */
async function* history({ sockets }: Session, { since, follow }: Options, last: number): AsyncGenerator<Told, void, undefined> {
  if (!follow && since >= last) return;
  for await (const told of followEvents(sockets, since)) {
    yield told;
    const reached = "event" in told ? told.sequence : told.gap.next - 1;
    if (!follow && reached >= last) return;
  }
}

/** All events of one task that are still in the journal. */
export async function historyOf(session: Session, id: string, last: number): Promise<readonly Extract<Told, { sequence: number }>[]> {
  const found: Extract<Told, { sequence: number }>[] = [];
  for await (const told of history(session, { since: 0 }, last))
    if ("event" in told && "task" in told.event && told.event.task === id) found.push(told);
  return found;
}

function show(told: Told, isJson: boolean): void {
  if (isJson) print(JSON.stringify(told));
  else if ("event" in told) print(eventLine(told.sequence, told.event, styleFor(stdout)));
  else print(`        events after ${told.gap.after} and before ${told.gap.next} are gone`);
}

function sequenceOf(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError("It is no sequence number.");
  return Number(text);
}
