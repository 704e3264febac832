import type { Spec } from "../../spec/index.ts";
import type { Check } from "../finding.ts";

type Rule = NonNullable<NonNullable<NonNullable<Spec["linux"]>["resources"]>["devices"]>[number];
type Device = NonNullable<NonNullable<Spec["linux"]>["devices"]>[number];

const LETTERS = "rwm";

/** What every container may use, whatever the rules say (config-linux, default devices; the terminal). "major:minor". */
const ALWAYS = ["1:3", "1:5", "1:7", "1:8", "1:9", "5:0", "5:1", "5:2"];

function applies({ type, major, minor }: Rule, device: Device): boolean {
  const fits = (asked: number | bigint | null | undefined, own: number | bigint | null | undefined) =>
    asked === null || asked === undefined || asked === -1 || Number(asked) === Number(own);
  return (!type || type === "a" || type === (device.type === "b" ? "b" : "c")) && fits(major, device.major) && fits(minor, device.minor);
}

/** Letters of access that the rules leave for a device; the last word counts. */
function allowedAccess(rules: readonly Rule[], device: Device): string {
  let allowed = "";
  for (const rule of rules) {
    if (!applies(rule, device)) continue;
    const letters = rule.access || LETTERS;
    allowed = [...LETTERS].filter((letter) => (letters.includes(letter) ? rule.allow : allowed.includes(letter))).join("");
  }
  return allowed;
}

/** config-linux, allowed device list: a device that is made and that the same configuration forbids to use. */
export const deniedDevices: Check = ({ linux }, report) => {
  const rules = linux?.resources?.devices ?? [];
  if (rules.length === 0) return;
  linux?.devices?.forEach((device, index) => {
    if (device.type === "p" || ALWAYS.includes(`${device.major}:${device.minor}`)) return;
    const allowed = allowedAccess([...rules], device);
    if (allowed.includes("r") || allowed.includes("w")) return;
    report.warning(
      "device-denied",
      `/linux/devices/${index}`,
      `"${device.path}" is made, but linux.resources.devices lets nobody read or write it`,
      `allow ${device.type === "b" ? "b" : "c"} ${device.major}:${device.minor} rwm in linux.resources.devices`,
    );
  });
};
