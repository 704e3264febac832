/** Keeps the next deadline of each task. */
import { type Instant, nextDeadline, type TaskRecord } from "../model/index.ts";
import { Alarm } from "./clock.ts";

export class Deadlines {
  /** Milliseconds of CLOCK_BOOTTIME, by task id. A deadline that has passed stays until its task was processed. */
  readonly #due = new Map<string, number>();
  readonly #alarm: Alarm;

  constructor(ring: () => void) {
    this.#alarm = new Alarm(ring);
  }

  /** Called each time a task was processed. `record` undefined: the task was removed. */
  set(id: string, record: TaskRecord | undefined, now: Instant): void {
    const next = record && nextDeadline(record, now);
    if (next) this.#due.set(id, next.bootMs);
    else this.#due.delete(id);
  }

  passed({ bootMs }: Instant): string[] {
    return [...this.#due].filter(([, due]) => due <= bootMs).map(([id]) => id);
  }

  /** Sets the alarm to the earliest deadline. */
  arm({ bootMs }: Instant): void {
    this.#alarm.set(this.#due.size === 0 ? undefined : Math.min(...this.#due.values()) - bootMs);
  }

  stop(): void {
    this.#alarm.set(undefined);
  }
}
