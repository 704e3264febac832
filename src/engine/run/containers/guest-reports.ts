/** What the kernels in the virtual machines of tasks count. The guests are asked by the runtime, which trusts nothing that they say (docs/vm.md). */
import { type GuestNumbers, type GuestReport, guestNumbers } from "../../../shared/metrics/index.ts";
import type { TaskRecord } from "../../model/index.ts";
import { Limit } from "../limit.ts";

const ASKED_AT_ONCE = 16;
/** Clients that collect metrics wait for ten seconds. */
const PATIENCE_MS = 8_000;

export interface GuestReportsOptions {
  readonly isInMachine: (task: TaskRecord) => boolean;
  /** Asks the runtime about the machine of this container: its answer as JSON. */
  readonly ask: (runtimeId: string) => Promise<string>;
}

export class GuestReports {
  readonly #options: GuestReportsOptions;
  readonly #limit = new Limit(ASKED_AT_ONCE);
  /** A guest that does not answer is not asked again meanwhile. */
  readonly #asked = new Map<string, Promise<GuestNumbers | undefined>>();

  constructor(options: GuestReportsOptions) {
    this.#options = options;
  }

  /** One entry for each of these tasks that has a machine which runs. Takes at most eight seconds. */
  async read(tasks: readonly TaskRecord[]): Promise<GuestReport[]> {
    const subjects = tasks.flatMap((task) => {
      const id = this.#options.isInMachine(task) ? ownerOf(task) : undefined;
      return id === undefined ? [] : [{ labels: { group: task.group, task: task.name }, id }];
    });
    if (subjects.length === 0) return [];
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), PATIENCE_MS);
    });
    try {
      return await Promise.all(
        subjects.map(async ({ labels, id }) => ({ labels, numbers: await Promise.race([this.#numbers(id), late]) })),
      );
    } finally {
      clearTimeout(timer);
    }
  }

  #numbers(id: string): Promise<GuestNumbers | undefined> {
    const asked = this.#asked.get(id);
    if (asked !== undefined) return asked;
    const numbers = this.#limit
      .run(async () => numbersIn(await this.#options.ask(id)))
      // The container has ended, or its guest does not answer: the metrics say so.
      .catch(() => undefined)
      .finally(() => this.#asked.delete(id));
    this.#asked.set(id, numbers);
    return numbers;
  }
}

/** The container that has booted the machine: the pause container, or the only one. */
function ownerOf({ containers }: TaskRecord): string | undefined {
  const running = containers.filter(({ known }) => known === "RUNNING");
  return (running.find(({ type }) => type === "namespacePause") ?? running[0])?.runtimeId;
}

function numbersIn(answer: string): GuestNumbers | undefined {
  const [report] = JSON.parse(answer) as readonly { readonly numbers?: unknown }[];
  return report?.numbers === undefined ? undefined : guestNumbers(JSON.stringify(report.numbers));
}
