/**
 * What help and man pages say of a verb beyond the table: nothing that parsing needs, so that it is loaded only when somebody reads.
 */
import type { VerbName } from "../table/index.ts";

export interface VerbManual {
  readonly examples: readonly string[];
}

export const MANUAL: Readonly<Record<VerbName, VerbManual>> = {
  create: { examples: ["runt create -b /bundles/web web", "runt create --dry-run -b /bundles/web web"] },
  start: { examples: ["runt start web"] },
  run: { examples: ["runt run -b /bundles/hello hello", "runt run -d --pid-file web.pid -b /bundles/web web"] },
  exec: { examples: ["runt exec web ps", "runt exec -t -e TERM=xterm web sh", "runt exec -d --pid-file p --process process.json web"] },
  ps: { examples: ["runt ps web", "runt ps web -o pid,comm", "runt ps --format json web"] },
  pause: { examples: ["runt pause web"] },
  resume: { examples: ["runt resume web"] },
  update: {
    examples: [
      "runt update --memory 64m --pids-limit 100 web",
      "runt update --cpu-quota 50000 web",
      "runt update --resources - web < limits.json",
    ],
  },
  events: { examples: ["runt events web", "runt events --stats web", "runt events --interval 500ms web"] },
  state: { examples: ["runt state web"] },
  list: { examples: ["runt list", "runt list -f json"] },
  kill: { examples: ["runt kill web", "runt kill web KILL", "runt kill --all web 9"] },
  delete: { examples: ["runt delete web", "runt delete --force web"] },
  spec: { examples: ["runt spec", "runt spec --rootless -b /bundles/new"] },
  features: { examples: ["runt features"] },
  plan: { examples: ["runt plan -b /bundles/web"] },
};
