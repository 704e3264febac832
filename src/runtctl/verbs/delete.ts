import type { Deleted } from "../../engine/index.ts";
import { EXIT } from "../errors.ts";
import { print } from "../platform/index.ts";
import { limitOf, untilEnded, type WaitedFor } from "../until.ts";
import { verb } from "../verb.ts";
import { addSeveral, addWait, askSeveral, type SeveralOptions, sayDone } from "./several.ts";

interface Options extends SeveralOptions, WaitedFor {
  readonly volumes?: true;
}

export const remove = verb<Options>({
  name: "delete",
  summary: "stop tasks and remove them with everything that belongs to them",
  description: [
    "Several tasks stop in the inverse order of their dependencies. When a name is wrong nothing is done; of a file those tasks are removed that are there. It returns when nothing of them is left; and with 1 when the time is over, after it has said what keeps them from it. SIGINT ends the wait, too; the daemon goes on.",
  ],
  examples: [
    ["delete web", "the task web"],
    ["delete -f compose.yaml", "the services of a Compose file"],
    ["delete -p shop", "every service of the project shop, also when its file is gone"],
    ["-g shop delete --all", "every task of the group shop"],
    ["delete -f compose.yaml --volumes", "and their named volumes"],
  ],
  define(command) {
    addSeveral(command);
    addWait(command);
    command.option(
      "--volumes",
      "also the kept volumes of these tasks, and with -f of those that are gone, but for those that another task of the group names",
    );
  },
  async run(session, names, options) {
    const limitMs = limitOf(options);
    const selected = await askSeveral<Deleted>(session, "/v1/delete", names, options, { volumes: options.volumes === true });
    if (selected === undefined) return EXIT.failed;
    const { tasks } = selected;
    const open = options.wait ? await untilEnded(session, { tasks, to: "deleted", limitMs }) : undefined;
    const isDone = open === undefined || open.size === 0;
    const what = options.wait ? "deleted" : "is being deleted";
    sayDone(selected, what, options, open);
    if (isDone) for (const name of selected.volumes) print(`volume ${name} ${what}`);
    return isDone ? EXIT.done : EXIT.failed;
  },
});
