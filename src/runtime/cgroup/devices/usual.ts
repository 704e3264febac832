/** The rules of most containers as text: made once, when runt is built, for they stand in the engine image (docs/decisions/0007-engine-image.md). */
import type { ResourceConfig } from "../../config/index.ts";
import { allowList, USUAL_LIST } from "./emulator.ts";
import { type DeviceList, encodeRules, ruleText } from "./rule.ts";

export const USUAL_RULES: readonly string[] = encodeRules(USUAL_LIST);
export const USUAL_EXCEPTIONS: readonly string[] = USUAL_LIST.exceptions.map(ruleText);

/** What the configuration allows, as the operation `cgroup.devices` takes it. @throws RuntError config-invalid */
export function rulesOf(resources: Pick<ResourceConfig, "devices" | "onlyListedDevices">): readonly string[] {
  const list = allowList(resources);
  return list === USUAL_LIST ? USUAL_RULES : encodeRules(list);
}

/** The exceptions of a list, as devices.allow and devices.deny take them. */
export function exceptionTexts(list: DeviceList): readonly string[] {
  return list === USUAL_LIST ? USUAL_EXCEPTIONS : list.exceptions.map(ruleText);
}
