import { InvalidArgumentError } from "commander";
import type { TopOptions } from "../on-node/top.ts";
import { onNode } from "../platform/index.ts";
import { verb } from "../verb.ts";

export const top = verb<TopOptions>({
  name: "top",
  summary: "show the resource usage of running containers",
  description: [
    "On a terminal a table that is drawn anew, until ^C; elsewhere, and with --once, plain lines and then the end. CPU is percent of one processor over the last interval, its bar of " +
      "all processors of the host; the bar of memory is of the container's limit.",
  ],
  define: (command) =>
    command
      .option("-i, --interval <seconds>", "interval between two samples", secondsOf, 1)
      .option("--once", "print one sample as plain lines"),
  async run(session, _, options) {
    const { showUsage } = await onNode(() => import("../on-node/top.ts"));
    return showUsage(session, options);
  },
});

function secondsOf(text: string): number {
  const seconds = Number(text);
  if (!(seconds >= 0.1 && seconds <= 3600)) throw new InvalidArgumentError("Use 0.1 to 3600 seconds.");
  return seconds;
}
