import { NAMESPACE_TYPES, pointerToken, type Spec, type SpecNamespace } from "../../spec/index.ts";
import type { Check, Report } from "../finding.ts";
import { utf8Length } from "../suggest.ts";

/** The entry of linux.namespaces of this type; undefined when the container shares the caller's. */
export function namespaceOf(spec: Spec, type: string): SpecNamespace | undefined {
  return spec.linux?.namespaces?.find((namespace) => namespace.type === type);
}

/** config-linux, namespaces: known types, once each. */
export const namespaceTypes: Check = ({ linux }, report) => {
  const seen: string[] = [];
  (linux?.namespaces ?? []).forEach(({ type }, index) => {
    const pointer = `/linux/namespaces/${index}/type`;
    if (!(NAMESPACE_TYPES as readonly string[]).includes(type)) {
      report.error("namespace-unknown", pointer, `linux.namespaces: unknown type "${type}"`, `one of ${NAMESPACE_TYPES.join(", ")}`);
    } else if (seen.includes(type)) report.error("namespace-duplicate", pointer, `linux.namespaces: ${type} is given more than once`);
    seen.push(type);
  });
};

/** config-linux, namespaces: path is absolute. */
export const namespacePaths: Check = ({ linux }, report) => {
  (linux?.namespaces ?? []).forEach(({ type, path }, index) => {
    if (!path || path.startsWith("/")) return;
    report.error(
      "namespace-path-relative",
      `/linux/namespaces/${index}/path`,
      `linux.namespaces: the path of the ${type} namespace "${path}" is not absolute`,
    );
  });
};

/** HOST_NAME_MAX of sethostname(2) and setdomainname(2). */
const LONGEST_NAME = 64;

function checkName(report: Report, field: "hostname" | "domainname", name: string | null | undefined, own: boolean): void {
  if (!name) return;
  if (!own) report.error(`${field}-shared`, `/${field}`, `unable to set ${field} without a private UTS namespace`, "add a uts namespace");
  if (utf8Length(name) > LONGEST_NAME) report.error(`${field}-long`, `/${field}`, `${field}: longer than ${LONGEST_NAME} bytes`);
}

/** config, hostname and domainname: never those of the host. */
export const hostnames: Check = (spec, report) => {
  const own = namespaceOf(spec, "uts") !== undefined;
  checkName(report, "hostname", spec.hostname, own);
  checkName(report, "domainname", spec.domainname, own);
};

const NANOSECONDS = 1_000_000_000;

/** config-linux, time offset: for a new time namespace, of its two clocks. */
export const timeOffsets: Check = (spec, report) => {
  const offsets = spec.linux?.timeOffsets;
  if (!offsets) return;
  const clocks = Object.entries(offsets);
  if (clocks.length === 0) return;
  const namespace = namespaceOf(spec, "time");
  const pointer = "/linux/timeOffsets";
  if (!namespace) report.error("time-offsets-shared", pointer, "linux.timeOffsets: need a time namespace", "add a time namespace");
  else if (namespace.path)
    report.error("time-offsets-joined", pointer, "linux.timeOffsets: cannot be set in a time namespace that is joined by path");
  for (const [clock, { nanosecs }] of clocks) {
    if (clock !== "monotonic" && clock !== "boottime") {
      report.error(
        "time-clock-unknown",
        `${pointer}/${pointerToken(clock)}`,
        `linux.timeOffsets: unknown clock "${clock}"`,
        "monotonic or boottime",
      );
    } else if ((nanosecs ?? 0) >= NANOSECONDS) {
      report.error(
        "time-nanosecs-range",
        `${pointer}/${clock}/nanosecs`,
        `linux.timeOffsets: ${clock}.nanosecs ${nanosecs} is a second or more`,
      );
    }
  }
};
