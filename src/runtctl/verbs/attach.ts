import type { AttachOptions } from "../on-node/attach.ts";
import { onNode } from "../platform/index.ts";
import { verb } from "../verb.ts";

export const attach = verb<AttachOptions>({
  name: "attach",
  summary: "connect to the standard streams of a running container",
  description: [
    "What it prints from now on; with -i what is typed goes to its standard input, which the container has with stdin or tty in the task file. With tty and -i the terminal is the container's: its size, too, and each key, but for ^P ^Q.",
    "It ends with the container's exit status: 128 + N when signal N ended it, 255 when nobody knows. When runtctl goes away, by ^P ^Q (then it ends with 0), by a signal or with its connection, the container notices nothing: it goes on, and its standard input stays open for whoever attaches next. The end of what is typed (^D without tty) is not passed on either; both are the end of its input where the task file has `stdin: once`.",
    "Its output is read from its log: what comes without a newline is shown within 0.2 seconds.",
  ],
  examples: [
    ["attach -i web -c shell", "the terminal of shell; ^P ^Q leaves it"],
    ["attach web -c app", "what app prints from now on, and its exit status"],
  ],
  define: (command) =>
    command
      .argument("<name>", "of a task")
      .option("-c, --container <name>", "container of the task; required if it has more than one")
      .option("-i, --stdin", "pass standard input to the container"),
  async run(session, [name = ""], options) {
    const { attachTo } = await onNode(() => import("../on-node/attach.ts"));
    return attachTo(session, name, options);
  },
});
