import type { Deleted } from "../../engine/index.ts";
import { EXIT } from "../errors.ts";
import { print } from "../platform/index.ts";
import { untilRemoved } from "../pools.ts";
import { endFor, limitOf, untilEnded, type WaitedFor } from "../until.ts";
import { verb } from "../verb.ts";
import { addSeveral, addWait, askSeveral, type SeveralOptions, sayDone } from "./several.ts";

interface Options extends SeveralOptions, WaitedFor {
  readonly volumes?: true;
}

export const remove = verb<Options>({
  name: "delete",
  summary: "stop tasks and remove them with everything that belongs to them",
  description: [
    "Several tasks stop in the inverse order of their dependencies. If a name is wrong, delete removes nothing. With -f it removes the tasks of the file that exist. It returns when nothing of the tasks is left. If they are not removed within the timeout, it prints the reasons and returns 1. SIGINT also ends the wait; the daemon goes on.",
  ],
  examples: [
    ["delete web", "remove the task web"],
    ["delete -f compose.yaml", "remove the services of a Compose file"],
    ["delete -p shop", "remove every service of the project shop, even if its file no longer exists"],
    ["-g shop delete --all", "remove every task of the group shop"],
    ["delete -f compose.yaml --volumes", "also remove their named volumes"],
  ],
  define(command) {
    addSeveral(command);
    addWait(command);
    command.option(
      "--volumes",
      "also remove the kept volumes of these tasks, and with -f of tasks that no longer exist; volumes that another task of the group names stay",
    );
  },
  async run(session, names, options) {
    const end = endFor(limitOf(options));
    const selected = await askSeveral<Deleted>(session, "/v1/delete", names, options, { volumes: options.volumes === true });
    if (selected === undefined) return EXIT.failed;
    const { tasks, pools } = selected;
    const open = options.wait ? await untilEnded(session, { tasks, to: "deleted", end }) : undefined;
    const left = options.wait && pools.length > 0 ? await untilRemoved(session, pools, end) : [];
    const isDone = (open === undefined || open.size === 0) && left.length === 0;
    const what = options.wait ? "deleted" : "is being deleted";
    sayDone(selected, what, options, open);
    for (const name of pools) print(`pool ${name} ${left.includes(name) ? "is being deleted" : what}`);
    if (isDone) for (const name of selected.volumes) print(`volume ${name} ${what}`);
    return isDone ? EXIT.done : EXIT.failed;
  },
});
