import { EXIT } from "../errors.ts";
import { untilStopped } from "../tasks.ts";
import { verb } from "../verb.ts";
import { addNoWait, addSeveral, askSeveral, type SeveralOptions, sayDone, type WaitedFor } from "./several.ts";

export const stop = verb<SeveralOptions & WaitedFor>({
  name: "stop",
  summary: "stop tasks, and keep them for inspection",
  description: [
    "Several tasks stop in the inverse order of their dependencies. It returns when they have stopped. SIGINT ends the wait; the daemon goes on. `apply` starts a task again, `delete` removes it, and so does the end of its retention.",
  ],
  examples: [
    ["stop web", "the task web"],
    ["stop -f compose.yaml", "the services of a Compose file; `apply -f compose.yaml` starts them again"],
  ],
  define(command) {
    addSeveral(command);
    addNoWait(command);
  },
  async run(session, names, options) {
    const selected = await askSeveral(session, "/v1/stop", names, options);
    if (selected === undefined) return EXIT.failed;
    if (options.wait)
      await untilStopped(
        session,
        selected.tasks.map(({ id }) => id),
      );
    sayDone(selected, options.wait ? "stopped" : "is being stopped", options);
    return EXIT.done;
  },
});
