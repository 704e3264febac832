import { CAPABILITIES } from "../../../shared/linux/index.ts";
import type { HostCheck } from "../host/host-check.ts";
import { namespaceOf } from "../namespaces/namespaces.ts";

const SETS = ["bounding", "permitted"] as const;

/** capabilities(7): a process can only give what is in its own bounding set. (In a new user namespace it has them all.) */
export const boundCapabilities: HostCheck = (spec, report, { view: { facts } }) => {
  const { capabilities } = spec.process ?? {};
  if (!capabilities || namespaceOf(spec, "user")) return;
  const own = facts.caller?.bounding ?? [];
  if (own.length === 0) return;
  for (const set of SETS) {
    capabilities[set]?.forEach((name, index) => {
      if (own.includes(name) || !(CAPABILITIES as readonly string[]).includes(name)) return;
      report.warning(
        "capability-unavailable",
        `/process/capabilities/${set}/${index}`,
        `the runtime does not have ${name} itself, so that it is left out`,
      );
    });
  }
};
