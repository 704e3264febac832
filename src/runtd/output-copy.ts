/** What containers print, on this program's standard output, a line of one container after a line of another. */
import { type ContainerView, type Engine, type LogRecord, type TaskView, TextWriter } from "../engine/index.ts";
import { factsOf, log } from "./log.ts";

export class OutputCopy {
  readonly #copies: Promise<unknown>;

  /** Of one container as it is; of several, each line with the container's name in front. */
  constructor(engine: Engine, ids: readonly string[], group: string) {
    const containers = ids.flatMap((id) => ownContainers(engine.get(id, group)).map(({ name }) => ({ id, name })));
    const copies = containers.map(({ id, name }) => {
      const records = engine.logs(id, group, { container: name, follow: true, previous: false });
      return copy(records, containers.length === 1 ? "" : `${name} | `).catch((error) => log("error", "output-lost", factsOf(error)));
    });
    this.#copies = Promise.all(copies);
  }

  /** The rest of it. To be called when they have stopped for good. */
  async finish(): Promise<void> {
    await this.#copies;
  }
}

/** Without the process that holds the namespaces which they share: it prints nothing. */
function ownContainers({ containers }: TaskView): readonly ContainerView[] {
  return containers.filter(({ type }) => type === "normal");
}

async function copy(records: AsyncIterable<readonly LogRecord[]>, prefix: string): Promise<void> {
  const text = new TextWriter({ hasTimes: false, prefix });
  // Parts of a line, by its stream: others may print before it goes on.
  const begun = new Map<string, Buffer[]>();
  for await (const some of records) {
    for (const record of some) {
      const parts = [...(begun.get(record.stream) ?? []), text.render(record)];
      if (record.isPart && prefix !== "") begun.set(record.stream, parts);
      else {
        begun.delete(record.stream);
        await print(Buffer.concat(parts));
      }
    }
  }
  for (const parts of begun.values()) await print(Buffer.concat([...parts, Buffer.from("\n")]));
}

/** A slow reader holds up the reading of the file. */
async function print(bytes: Buffer): Promise<void> {
  if (!process.stdout.write(bytes)) await new Promise((resolve) => process.stdout.once("drain", resolve));
}
