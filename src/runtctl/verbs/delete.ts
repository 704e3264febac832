import { EXIT } from "../errors.ts";
import { untilGone } from "../tasks.ts";
import { verb } from "../verb.ts";
import { addNoWait, addSeveral, askSeveral, type SeveralOptions, sayDone, type WaitedFor } from "./several.ts";

export const remove = verb<SeveralOptions & WaitedFor>({
  name: "delete",
  summary: "stop tasks and remove them with everything that belongs to them",
  description: [
    "Several tasks stop in the inverse order of their dependencies. When a name is wrong nothing is done; of a file those tasks are removed that are there. It returns when nothing of them is left. SIGINT ends the wait; the daemon goes on.",
  ],
  examples: [
    ["delete web", "the task web"],
    ["delete -f compose.yaml", "the services of a Compose file"],
    ["-g shop delete --all", "every task of the group shop"],
  ],
  define(command) {
    addSeveral(command);
    addNoWait(command);
  },
  async run(session, names, options) {
    const selected = await askSeveral(session, "/v1/delete", names, options);
    if (selected === undefined) return EXIT.failed;
    if (options.wait)
      await untilGone(
        session,
        selected.tasks.map(({ id }) => id),
      );
    sayDone(selected, options.wait ? "deleted" : "is being deleted", options);
    return EXIT.done;
  },
});
