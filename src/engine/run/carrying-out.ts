/** Performs the actions that a turn has decided. The result of each action is posted as an event of its task. */
import { NETWORK } from "../model/index.ts";
import type { ContainerRuntime } from "./containers/runtime.ts";
import type { Order } from "./desired/draft.ts";
import type { Effects } from "./effects.ts";
import { Forgetting } from "./forgetting.ts";
import { Limit } from "./limit.ts";
import type { EngineLog } from "./log.ts";
import type { Probe } from "./probe.ts";
import type { Turns } from "./turn.ts";

/** Starting a container runs several processes, so that only a few start at once. */
const STARTS_AT_ONCE = 8;
/** What is removed at once is unmounted by one process. */
const REMOVALS_AT_ONCE = 64;
/** Making a network runs several processes as well, and the kernel serialises changes of firewall rules. */
const NETWORKS_AT_ONCE = 4;
/** Of networks that are removed at once the rules are removed by one process, and the namespaces, so that each runs little but its plugins. */
const RELEASES_AT_ONCE = 16;

export interface CarryingOutOptions {
  readonly turns: () => Turns;
  readonly effects: Effects;
  readonly runtime: ContainerRuntime;
  readonly log: EngineLog;
  readonly probe: Probe | undefined;
}

export class CarryingOut {
  readonly #options: CarryingOutOptions;
  readonly #forgetting: Forgetting;
  readonly #starts = new Limit(STARTS_AT_ONCE);
  readonly #removals = new Limit(REMOVALS_AT_ONCE);
  readonly #networks = new Limit(NETWORKS_AT_ONCE);
  readonly #releases = new Limit(RELEASES_AT_ONCE);

  constructor(options: CarryingOutOptions) {
    this.#options = options;
    this.#forgetting = new Forgetting(options.turns, options.effects, options);
  }

  /** Starts the action and returns at once. */
  begin({ record, action }: Order): void {
    const { turns, effects, runtime, log, probe } = this.#options;
    if (action.type === "forget") {
      this.#forgetting.begin(record);
      return;
    }
    const perform = () => effects.perform(action, record);
    const begin = () => this.#limitOf(action)?.run(perform) ?? perform();
    const result = effects.waitsFor(action, record)?.then(begin, (error) => effects.refused(action, error)) ?? begin();
    void result.then((happening) => {
      probe?.("after-effect", action.type);
      turns().post(record.id, happening, action.type);
      if (happening.type === "resource" && happening.error !== undefined) {
        const { name: resource, target, error } = happening;
        log("error", "resource-failed", { task: record.id, resource, target, message: error.message });
      }
      if (happening.type === "removed" && happening.error !== undefined) {
        log("error", "remove-failed", { task: record.id, container: happening.container, message: happening.error.message });
      }
      if (happening.type === "preStopped" && happening.error !== undefined) {
        log("error", "pre-stop-failed", { task: record.id, container: happening.container, message: happening.error });
      }
      if (action.type === "start" && happening.type === "result" && happening.error === undefined) runtime.follow(action.runtimeId);
    });
  }

  #limitOf(action: Order["action"]): Limit | undefined {
    if (action.type === "start") return this.#starts;
    if (action.type === "remove") return this.#removals;
    if (action.type === "createResource" && action.name === NETWORK) return this.#networks;
    return action.type === "removeResource" && action.name === NETWORK ? this.#releases : undefined;
  }
}
