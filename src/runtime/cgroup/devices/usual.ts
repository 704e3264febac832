/** The rules of most containers as text: made once, when runt is built, for they stand in the engine image (docs/decisions/0007-engine-image.md). */
import type { ResourceConfig } from "../../config/index.ts";
import { allowList, USUAL_LIST } from "./emulator.ts";
import { encodeRules } from "./rule.ts";

export const USUAL_RULES: readonly string[] = encodeRules(USUAL_LIST);

/** What the configuration allows, as the operation `cgroup.devices` takes it. @throws RuntError config-invalid */
export function rulesOf(resources: Pick<ResourceConfig, "devices" | "onlyListedDevices">): readonly string[] {
  const list = allowList(resources);
  return list === USUAL_LIST ? USUAL_RULES : encodeRules(list);
}
