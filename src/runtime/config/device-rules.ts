import { RuntError } from "../errors/index.ts";
import type { ResourceConfig } from "./types.ts";

/** "false": linux.resources.devices is all there is, without the rules that every container gets. */
const ANNOTATION = "io.runt.default-device-rules";

/** @throws RuntError config-invalid for a value that is neither "true" nor "false". */
export function deviceRuleMode(
  annotations: Readonly<Record<string, string>> | null | undefined,
): Pick<ResourceConfig, "onlyListedDevices"> {
  const value = annotations?.[ANNOTATION];
  if (value === undefined || value === "true") return {};
  if (value === "false") return { onlyListedDevices: true };
  throw new RuntError("config-invalid", `annotation ${ANNOTATION}: ${JSON.stringify(value)} is neither "true" nor "false"`, {
    pointer: `/annotations/${ANNOTATION}`,
    finding: "annotation-device-rules",
  });
}
