/** The device list as systemd takes it. Source: systemd.resource-control(5), DeviceAllow=. */
import type { DeviceException, DeviceList } from "../../devices/rule.ts";
import { type Property, property, type Version } from "./property.ts";

/** Before this version a device number without a path ("char-136") is not understood. */
const NUMBERED_GROUPS = 240;
const WORDS = { b: "block", c: "char" } as const;

/**
 * For cgroup v1. systemd takes a list of what is allowed and nothing else.
 * The list that holds is written by runt either way; this is what systemd falls back to when it is reloaded.
 */
export function deviceProperties({ defaultAllow, exceptions }: DeviceList, systemd: Version, warn: (text: string) => void): Property[] {
  if (defaultAllow && exceptions.length === 0) return policy("auto", []);
  if (defaultAllow) {
    // systemd and runt write the same files: what systemd does not know, it must not open.
    warn("systemd cannot except devices from what is allowed: when it is reloaded, it denies all devices");
    return policy("strict", []);
  }
  const entries: [string, string][] = [];
  for (const exception of exceptions) {
    const name = nodeName(exception, systemd);
    if (name !== undefined) entries.push([name, exception.access]);
    else warn(`systemd ${systemd()} cannot name the devices ${exception.type} ${number(exception.major)}:${number(exception.minor)}`);
  }
  return policy("strict", entries);
}

function policy(name: "auto" | "strict", entries: [string, string][]): Property[] {
  return [property("DevicePolicy", "s", name), property("DeviceAllow", "a(ss)", entries)];
}

function nodeName({ type, major, minor }: DeviceException, systemd: Version): string | undefined {
  const word = WORDS[type];
  if (major >= 0 && minor >= 0) return `/dev/${word}/${major}:${minor}`;
  if (minor >= 0) return undefined;
  if (major < 0) return `${word}-*`;
  return systemd() >= NUMBERED_GROUPS ? `${word}-${major}` : undefined;
}

function number(value: number): string {
  return value < 0 ? "*" : String(value);
}
