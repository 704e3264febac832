import type { GroupPlace } from "../input.ts";
import type { Scope } from "./scope.ts";

const POINTER = "/linux/intelRdt";

/** Before anything is started, so that a refusal costs nothing. */
export function addResctrlGroups({ builder, config, host }: Scope): void {
  if (!config.intelRdt || !host.resctrl) return;
  const { closId, schemata } = config.intelRdt;
  const { mount, group, monitor } = host.resctrl;
  const create = closId === undefined || schemata.length > 0;
  builder.add("runtime", "host", "resctrl.prepare", { mount, group, create, schemata }, POINTER);
  if (monitor !== undefined) builder.add("runtime", "host", "resctrl.monitor", { mount, group: monitor }, `${POINTER}/enableMonitoring`);
}

/** The runtime moves init, which starts nothing before it is in. A task gets into a monitoring group only from the group above it. */
export function addResctrlJoin({ builder }: Pick<Scope, "builder">, { mount, group, monitor }: GroupPlace): void {
  for (const name of monitor === undefined ? [group] : [group, monitor])
    builder.add("runtime", "namespaces", "resctrl.join", { mount, group: name }, POINTER);
}
