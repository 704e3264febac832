import { pointerToken } from "../../spec/index.ts";
import type { Check } from "../finding.ts";
import { namespaceOf } from "../namespaces/namespaces.ts";
import { utf8Length } from "../suggest.ts";

/** IFNAMSIZ without the NUL. */
const LONGEST_NAME = 15;
const LOOPBACK = "lo";

/** What dev_valid_name() of the kernel refuses. */
function nameProblem(name: string): string | undefined {
  if (name === "") return "is empty";
  if (utf8Length(name) > LONGEST_NAME) return `is longer than ${LONGEST_NAME} bytes`;
  if (name === "." || name === "..") return "is not allowed";
  return /[\0-\x20/:]/.test(name) ? "has a slash, a colon or white space in it" : undefined;
}

/** config-linux, network devices: moved by name into a network namespace of the container's own. */
export const netDevices: Check = (spec, report, { rootless }) => {
  const devices = Object.entries(spec.linux?.netDevices ?? {});
  if (devices.length === 0) return;
  const all = "/linux/netDevices";
  if (!namespaceOf(spec, "network"))
    report.error(
      "net-devices-shared",
      all,
      "linux.netDevices: unable to move network devices without a network namespace",
      "add a network namespace",
    );
  if (rootless) report.error("net-devices-rootless", all, "linux.netDevices: network devices are not supported for rootless containers");
  for (const [device] of devices) {
    const pointer = `${all}/${pointerToken(device)}`;
    const problem = device.includes("%") ? "has a % in it" : nameProblem(device);
    if (problem) report.error("net-device-name", pointer, `linux.netDevices: the device name ${JSON.stringify(device)} ${problem}`);
    if (device === LOOPBACK) report.error("net-device-loopback", pointer, "linux.netDevices: the loopback device cannot be moved");
  }
};

/** The same, name: one that is free there, or a template with one %d. */
export const netDeviceTargets: Check = ({ linux }, report) => {
  const seen: string[] = [LOOPBACK];
  for (const [device, { name }] of Object.entries(linux?.netDevices ?? {})) {
    const pointer = `/linux/netDevices/${pointerToken(device)}/name`;
    const words = `linux.netDevices: the name ${JSON.stringify(name)} for "${device}"`;
    const target = name || device;
    if (name) {
      const problem = nameProblem(name);
      if (problem) report.error("net-device-target", pointer, `${words} ${problem}`);
      if (!/^[^%]*(%d[^%]*)?$/.test(name)) report.error("net-device-template", pointer, `${words} has a % that is not its only %d`);
    }
    if (target.includes("%")) continue;
    if (seen.includes(target) && device !== LOOPBACK)
      report.error(
        "net-device-duplicate",
        name ? pointer : pointer.slice(0, -"/name".length),
        `linux.netDevices: the container has a device "${target}" already`,
        "append %d to the name",
      );
    seen.push(target);
  }
};
