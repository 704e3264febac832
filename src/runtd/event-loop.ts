/** Measures for how long the event loop of the daemon was blocked. While it is blocked, the daemon answers no client. */
import { type IntervalHistogram, monitorEventLoopDelay } from "node:perf_hooks";

/** Milliseconds between two measurements. Shorter delays are not noticed. */
const RESOLUTION_MS = 20;
const WINDOW_MS = 60_000;
const NANO = 1e9;

export interface HoldUp {
  readonly quantile: "0.5" | "0.99" | "1";
  readonly seconds: number;
}

export class EventLoop {
  #windows: readonly IntervalHistogram[] = [startHistogram()];
  readonly #timer = setInterval(() => this.#turn(), WINDOW_MS).unref();

  /** Delays of the last one to two minutes. */
  get holdUps(): readonly HoldUp[] {
    const longest = (of: (window: IntervalHistogram) => number) =>
      Math.max(0, ...this.#windows.filter(({ count }) => count > 0).map((one) => of(one) / NANO - RESOLUTION_MS / 1000));
    return [
      { quantile: "0.5", seconds: longest((one) => one.percentile(50)) },
      { quantile: "0.99", seconds: longest((one) => one.percentile(99)) },
      { quantile: "1", seconds: longest(({ max }) => max) },
    ];
  }

  close(): void {
    clearInterval(this.#timer);
    for (const window of this.#windows) window.disable();
  }

  #turn(): void {
    const [current, before] = this.#windows;
    before?.disable();
    current!.disable();
    this.#windows = [startHistogram(), current!];
  }
}

function startHistogram(): IntervalHistogram {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  histogram.enable();
  return histogram;
}
