import { EXIT } from "../errors.ts";
import { limitOf, untilEnded, type WaitedFor } from "../until-ended.ts";
import { verb } from "../verb.ts";
import { addSeveral, addWait, askSeveral, type SeveralOptions, sayDone } from "./several.ts";

export const stop = verb<SeveralOptions & WaitedFor>({
  name: "stop",
  summary: "stop tasks, and keep them for inspection",
  description: [
    "Several tasks stop in the inverse order of their dependencies. It returns when they have stopped; and with 1 when the time is over, after it has said what keeps them from it. SIGINT ends the wait, too; the daemon goes on. `start` starts a task again, `delete` removes it, and so does the end of its retention.",
  ],
  examples: [
    ["stop web", "the task web"],
    ["stop -f compose.yaml", "the services of a Compose file; `apply -f compose.yaml` starts them again"],
  ],
  define(command) {
    addSeveral(command);
    addWait(command);
  },
  async run(session, names, options) {
    const limitMs = limitOf(options);
    const selected = await askSeveral(session, "/v1/stop", names, options);
    if (selected === undefined) return EXIT.failed;
    const { tasks } = selected;
    const open = options.wait ? await untilEnded(session, { tasks, to: "stopped", limitMs }) : undefined;
    sayDone(selected, options.wait ? "stopped" : "is being stopped", options, open);
    return open !== undefined && open.size > 0 ? EXIT.failed : EXIT.done;
  },
});
