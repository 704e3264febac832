import type { ExecOptions } from "../on-node/exec.ts";
import { onNode } from "../platform/index.ts";
import { verb } from "../verb.ts";

export const exec = verb<ExecOptions>({
  name: "exec",
  summary: "run another program in a container",
  description: [
    "It ends with the program's exit status: 128 + N when signal N ended it, 127 when there is no such program, 126 when it cannot be run.",
    "When runtctl goes away, the program gets SIGHUP, and after ten seconds SIGKILL with all that it has started. SIGINT and SIGTERM are passed on to it.",
  ],
  examples: [
    ["exec web -c db -- psql -c 'select 1'", "one command"],
    ["exec -it web -c app -- sh", "a shell with a terminal"],
  ],
  define: (command) =>
    command
      .argument("<name>", "of a task")
      .argument("<command...>", "program and arguments, behind --")
      .option("-c, --container <name>", "container of the task; required if it has more than one")
      .option("-i, --stdin", "pass standard input to the program")
      .option("-t, --tty", "allocate a terminal")
      .option("-u, --user <user>", "user as name or uid, with optional :group; default: that of the container")
      .option("-w, --workdir <dir>", "working directory in the container")
      .option("-e, --env <name=value>", "set an environment variable; may be repeated", (text: string, before: string[] = []) => [
        ...before,
        text,
      ]),
  async run(session, [name = "", ...command], options) {
    const { execIn } = await onNode(() => import("../on-node/exec.ts"));
    return execIn(session, name, command, options);
  },
});
