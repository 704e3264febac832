/** `--host live|none|FILE`: on which host a bundle is looked at, and the options as its caller would have them there. */

import { chosenHostFacts, type HostProbe, LIVE, type RuntimeOptions, recordedProbe } from "../prepare/index.ts";
import { text, type VerbContext } from "./context.ts";

export interface ChosenHost {
  readonly probe: HostProbe;
  readonly options: RuntimeOptions;
  /** "live host", "no host", "host of FILE". */
  readonly name: string;
}

/** @throws RuntError host-facts */
export function chosenHost({ flags, options, rootGiven, rootlessGiven }: VerbContext): ChosenHost {
  const value = text(flags["host"]);
  if (value === undefined || value === "live") return { probe: LIVE, options, name: "live host" };
  const facts = chosenHostFacts(value);
  const { uid, inUserNamespace, stateRoot } = facts.caller;
  return {
    probe: recordedProbe(facts),
    name: value === "none" ? "no host" : `host of ${value}`,
    options: {
      ...options,
      root: rootGiven ? options.root : (stateRoot ?? options.root),
      rootless: rootlessGiven ? options.rootless : uid !== 0 || inUserNamespace,
    },
  };
}
