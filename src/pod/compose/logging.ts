/** Translates logging of a service. Source: Docker, "Configure logging drivers". */
import { FACILITIES, receiverSchema, shapeProblems, type TaskInput } from "../../engine/spec/index.ts";
import type { ServicePlace } from "./place.ts";
import { bytesOf, SIZE } from "./quantity.ts";
import type { ServiceInput } from "./schema.ts";

type Log = NonNullable<TaskInput["containers"][number]["log"]>;
type Receiver = NonNullable<Log["receiver"]>;

/** Minimum size of a log file in the engine, in bytes. */
const LEAST = 65_536;
const MOST_FILES = 100;

/** What a service says of itself that records may have. */
interface Known {
  readonly env: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
}

/** undefined: the engine's default. */
export function logOf({ logging }: ServiceInput, known: Known, place: ServicePlace): Log | undefined {
  if (logging === undefined) return undefined;
  const { refuse, warn } = place;
  const { driver, options = {} } = logging;
  if (driver === "none") {
    for (const name of Object.keys(options)) warn("has no effect with the driver none", ["logging", "options", name]);
    return { driver };
  }
  if (driver === "syslog" || driver === "gelf" || driver === "fluentd") return sentTo(driver, options, known, place);
  const { "max-size": size, "max-file": files, ...others } = options;
  for (const name of Object.keys(others)) warn(`has no effect: of a log only max-size and max-file are used`, ["logging", "options", name]);
  const isSize = size !== undefined && SIZE.test(String(size));
  if (size !== undefined && !isSize && String(size) !== "-1") refuse('write a size like "10m"', ["logging", "options", "max-size"]);
  const count = Number(files ?? 1);
  if (!Number.isInteger(count) || count < 1 || count > MOST_FILES)
    refuse(`is not a number of files from 1 to ${MOST_FILES}`, ["logging", "options", "max-file"]);
  const bytes = isSize ? bytesOf(String(size)) : 0;
  if (isSize && bytes < LEAST) warn("is less than 64k, which is what a file gets", ["logging", "options", "max-size"]);
  return {
    ...(driver === "journald" ? { driver } : {}),
    ...(isSize ? { maxSize: Math.max(LEAST, bytes) } : {}),
    ...(files === undefined ? {} : { maxFiles: count }),
  };
}

/**
 * Options with an effect, by their names in the engine. Source: Docker, "Syslog logging driver", "Graylog Extended Format logging driver", "Fluentd
 * logging driver".
 */
const OPTIONS: Readonly<Record<Receiver["protocol"], Readonly<Record<string, string>>>> = {
  syslog: { address: "syslog-address", facility: "syslog-facility", format: "syslog-format", tag: "tag" },
  gelf: { address: "gelf-address", compression: "gelf-compression-type", tag: "tag" },
  fluentd: { address: "fluentd-address", precise: "fluentd-sub-second-precision", ack: "fluentd-request-ack", tag: "tag" },
};

/** Of fluentd: what holds anyway. A service starts without its receiver, and what is not sent yet waits in the files of the log. */
const HOLDS: Readonly<Record<string, string>> = { "fluentd-async": "true", "fluentd-async-connect": "true" };
/** Of fluentd: names of labels and variables, whose values become fields of the records. */
const FIELDS = ["labels", "labels-regex", "env", "env-regex"];

function sentTo(
  protocol: Receiver["protocol"],
  options: Readonly<Record<string, string | number>>,
  known: Known,
  place: ServicePlace,
): Log | undefined {
  const { refuse, warn } = place;
  const names = OPTIONS[protocol];
  const at = (name: string) => ["logging", "options", name];
  for (const name of Object.keys(options)) {
    if (Object.values(names).includes(name) || (protocol === "fluentd" && FIELDS.includes(name))) continue;
    if (protocol === "fluentd" && HOLDS[name] === String(options[name])) continue;
    if (/-tls-/.test(name)) refuse("TLS is not supported: let a program of this host send it on", at(name));
    else warn("has no effect: what is not sent yet waits in the files of the log", at(name));
  }
  const given = Object.fromEntries(
    Object.entries(names).flatMap(([field, option]) => (options[option] === undefined ? [] : [[field, String(options[option])]])),
  );
  const address = receiverAddress(protocol, given["address"] ?? "");
  if (address === undefined) {
    refuse(`needs ${names["address"]}${protocol === "syslog" ? ": to the log of this host leads the driver journald" : ""}`, ["logging"]);
    return undefined;
  }
  const { precise, facility, ack } = given;
  const fields = protocol === "fluentd" ? fieldsIn(options, known, place) : {};
  const receiver = receiverSchema.safeParse({
    ...given,
    protocol,
    address,
    ...(facility === undefined || !/^\d+$/.test(facility) ? {} : { facility: FACILITIES[Number(facility)] ?? facility }),
    ...(precise === undefined ? {} : { precise: precise === "true" ? true : undefined }),
    ...(ack === undefined ? {} : { ack: ack === "true" ? true : undefined }),
    ...(Object.keys(fields).length === 0 ? {} : { fields }),
  });
  for (const { path, message } of receiver.success ? [] : shapeProblems(receiver.error))
    refuse(message, at(names[String(path[0])] ?? "tag"));
  return receiver.success ? { receiver: receiver.data } : undefined;
}

/** The address with the default port of the protocol. undefined: no address is given, and the protocol has no default. */
function receiverAddress(protocol: Receiver["protocol"], written: string): string | undefined {
  if (protocol === "fluentd") {
    const whole = written.includes("://") ? written : `tcp://${written || "127.0.0.1"}`;
    return /^tcp:\/\/[^:]+$/.test(whole) ? `${whole}:24224` : whole;
  }
  if (written === "") return undefined;
  return protocol === "syslog" && /^(?:tcp|udp):\/\/(?:[^:]+|\[.*\])$/.test(written) ? `${written}:514` : written;
}

/** Labels come first, as with Docker. Source: moby, daemon/logger/loginfo.go, ExtraAttributes. */
function fieldsIn(
  options: Readonly<Record<string, string | number>>,
  { env, labels }: Known,
  { refuse, warn }: ServicePlace,
): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [kind, all] of [["labels", labels] as const, ["env", env] as const]) {
    const at = ["logging", "options", kind];
    for (const name of String(options[kind] ?? "")
      .split(",")
      .map((one) => one.trim())
      .filter(Boolean)) {
      if (Object.hasOwn(all, name)) found[name] = all[name]!;
      else warn(`${name} is not said by the service: what the image says is not sent`, at);
    }
    if (options[`${kind}-regex`] !== undefined) refuse(`is not supported: name them in ${kind}`, ["logging", "options", `${kind}-regex`]);
  }
  return found;
}
