/** Copies the output of containers to standard output, line by line. */
import { type ContainerView, type Engine, EngineError, type LogRecord, type TaskView, TextWriter } from "../engine/index.ts";
import { factsOf, log } from "./log.ts";

export class OutputCopy {
  readonly #copies: Promise<unknown>;

  /** The output of a single container is unchanged. With several containers, each line begins with the name of its container. */
  constructor(engine: Engine, ids: readonly string[], group: string) {
    const containers = ids.flatMap((id) => ownContainers(engine.get(id, group)).map(({ name }) => ({ id, name })));
    const copies = containers.map(async ({ id, name }) => {
      try {
        const records = engine.logs(id, group, { container: name, follow: true, previous: false });
        await copy(records, containers.length === 1 ? "" : `${name} | `);
      } catch (error) {
        // With the log driver none, the output is not wanted.
        if (!(error instanceof EngineError && error.code === "no-log")) log("error", "output-lost", factsOf(error));
      }
    });
    this.#copies = Promise.all(copies);
  }

  /** Copies the rest. Call this after all containers have stopped for good. */
  async finish(): Promise<void> {
    await this.#copies;
  }
}

/** The containers of the task file, without the pause container, which prints nothing. */
function ownContainers({ containers }: TaskView): readonly ContainerView[] {
  return containers.filter(({ type }) => type === "normal");
}

async function copy(records: AsyncIterable<readonly LogRecord[]>, prefix: string): Promise<void> {
  const text = new TextWriter({ hasTimes: false, prefix });
  // Beginnings of lines by stream: other containers may print before the rest of a line arrives.
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

/** Waits for a slow reader, so that the rest of the log stays in its file. */
async function print(bytes: Buffer): Promise<void> {
  if (!process.stdout.write(bytes)) await new Promise((resolve) => process.stdout.once("drain", resolve));
}
