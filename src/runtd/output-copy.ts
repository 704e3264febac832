/** Copies the output of containers to standard output, line by line. */
import { type ContainerView, type Engine, EngineError, type LogRecord, type TaskView, TextWriter } from "../engine/index.ts";
import { factsOf, log } from "./log.ts";

export class OutputCopy {
  readonly #copies: Promise<unknown>;

  /** With one container the output is unchanged; with several, each line begins with the container's name. */
  constructor(engine: Engine, ids: readonly string[], group: string) {
    const containers = ids.flatMap((id) => ownContainers(engine.get(id, group)).map(({ name }) => ({ id, name })));
    const copies = containers.map(async ({ id, name }) => {
      try {
        const records = engine.logs(id, group, { container: name, follow: true, previous: false });
        await copy(records, containers.length === 1 ? "" : `${name} | `);
      } catch (error) {
        // What is dropped is what its author wants to have dropped.
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

/** All containers except the one that only holds shared namespaces, which prints nothing. */
function ownContainers({ containers }: TaskView): readonly ContainerView[] {
  return containers.filter(({ type }) => type === "normal");
}

async function copy(records: AsyncIterable<readonly LogRecord[]>, prefix: string): Promise<void> {
  const text = new TextWriter({ hasTimes: false, prefix });
  // Incomplete lines by stream: other containers may print before the rest of a line comes.
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

/** Waits for a slow reader before it reads more of the file. */
async function print(bytes: Buffer): Promise<void> {
  if (!process.stdout.write(bytes)) await new Promise((resolve) => process.stdout.once("drain", resolve));
}
