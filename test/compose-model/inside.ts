/** What a container of a stub image has printed, beside what the model of Docker Compose says. */
import { CAPABILITIES } from "../../src/shared/linux/index.ts";
import { type Facts, OWN_WORDS } from "./stub.ts";
import { fieldsOf, listOf, textsOf, type View } from "./view.ts";

/** Docker's, which a container has without cap_add and cap_drop, but for NET_RAW (docs/engine/compose.md). Source: moby, oci/caps/defaults.go. */
const CAPS = ["CHOWN", "DAC_OVERRIDE", "FSETID", "FOWNER", "MKNOD", "SETGID", "SETUID", "SETFCAP", "SETPCAP"];
const MORE_CAPS = ["NET_BIND_SERVICE", "SYS_CHROOT", "KILL", "AUDIT_WRITE"];

function capabilitiesOf(expected: View): string[] {
  const [added, dropped] = [textsOf(expected["cap_add"]), textsOf(expected["cap_drop"])];
  const usual = dropped.includes("ALL") ? [] : [...CAPS, ...MORE_CAPS].map((name) => `CAP_${name}`);
  const all = added.includes("ALL") ? [...CAPABILITIES] : [...usual, ...added];
  return [...new Set(all)].filter((name) => !dropped.includes(name) || added.includes(name)).sort();
}

const bits = (hex: string) => CAPABILITIES.filter((_, at) => (BigInt(`0x${hex}`) >> BigInt(at)) & 1n).sort();

/** Users and groups that files name, by their number in the stub. */
export const FIRST_ID = 2000;

/** What every container has, whatever the file says. Source: moby, container.CreateDaemonEnvironment. */
const anyway = (tty: unknown) => ["PATH", "HOME", "HOSTNAME", ...(tty === true ? ["TERM"] : [])];

/** Where the engine mounts something itself. */
const OWN_PLACES = /^\/(?:$|proc|sys|dev|etc\/(?:hosts|hostname|resolv\.conf)$)/;

/** Differences of one service, each as a line. */
export function seenFrom(
  service: string,
  expected: View,
  { environment, arguments: given, one, mounts }: Facts,
  ids: ReadonlyMap<string, number>,
): string[] {
  const lines: string[] = [];
  const same = (what: string, wanted: unknown, found: unknown) => {
    const [a, b] = [JSON.stringify(wanted), JSON.stringify(found)];
    if (a !== b) lines.push(`${service}: ${what}: ${a} by the file, ${b} inside`);
  };
  const wanted = fieldsOf(expected["environment"]);
  for (const [name, value] of Object.entries(wanted)) same(`environment ${name}`, value, environment[name]);
  same(
    "further variables",
    [],
    Object.keys(environment).filter((name) => !(name in wanted) && !anyway(expected["tty"]).includes(name)),
  );
  same("arguments", textsOf(expected["entrypoint"]).slice(OWN_WORDS), given);
  // The stub's accounts have no other directory.
  for (const [name, value] of Object.entries({ HOME: "/", HOSTNAME: one["hostname"] }))
    if (!(name in wanted)) same(name, value, environment[name]);
  same("working_dir", expected["working_dir"] ?? "/", one["directory"]);
  const [user = "0", group] = String(expected["user"] ?? "0").split(":");
  const number = (name: string) => (/^\d+$/.test(name) ? Number(name) : ids.get(name));
  same("user", number(user), Number(one["user"]?.split(":")[0]));
  if (group !== undefined) same("group", number(group), Number(one["user"]?.split(":")[1]));
  for (const name of textsOf(expected["group_add"]))
    same(`group_add ${name}`, true, one["groups"]?.split(" ").includes(String(number(name))));
  if (expected["hostname"] !== undefined) same("hostname", expected["hostname"], one["hostname"]?.split(".")[0]);
  if (expected["privileged"] !== true) same("capabilities", capabilitiesOf(expected), bits(one["CapBnd"] ?? "0"));
  same("no_new_privs", textsOf(expected["security_opt"]).includes("no-new-privileges") ? "1" : "0", one["NoNewPrivs"]);
  same("read_only", expected["read_only"] === true, mounts["/"]?.includes("ro"));
  if (expected["oom_score_adj"] !== undefined) same("oom_score_adj", String(expected["oom_score_adj"]), one["oom"]);
  // Docker lets any user listen on any port of a network of its own, and ping.
  const mode = expected["network_mode"];
  const sysctls = fieldsOf(expected["sysctls"]);
  if (mode !== "host" && mode !== "none") {
    same("lowest port of any user", sysctls["net.ipv4.ip_unprivileged_port_start"] ?? "0", one["ports"]);
    same("groups that ping", sysctls["net.ipv4.ping_group_range"] ?? "0 2147483647", one["pings"]);
  }
  const { nofile } = fieldsOf(expected["ulimits"]);
  if (nofile !== undefined) same("ulimits nofile", nofile, one["files"]);
  const cgroup = (...names: string[]) => names.map((name) => one[name]).find((value) => value !== undefined);
  const memory = cgroup("memory/memory.limit_in_bytes", "memory.max");
  if (memory !== undefined && expected["mem_limit"] !== undefined)
    same("mem_limit", Math.floor(Number(expected["mem_limit"]) / 4096) * 4096, Number(memory));
  const pids = cgroup("pids/pids.max", "pids.max");
  if (pids !== undefined && expected["pids_limit"] !== undefined) same("pids_limit", expected["pids_limit"], Number(pids));
  for (const field of ["volumes", "secrets", "configs"])
    for (const mount of listOf(expected[field]).map(fieldsOf)) {
      const options = mounts[String(mount["target"])];
      same(
        `${field} ${String(mount["target"])}`,
        field !== "volumes" || mount["read_only"] === true ? "ro" : "rw",
        options?.find((word) => /^r[ow]$/.test(word)),
      );
    }
  const places = ["volumes", "secrets", "configs"].flatMap((field) =>
    listOf(expected[field]).map((mount) => String(fieldsOf(mount)["target"])),
  );
  same(
    "further mounts",
    [],
    Object.keys(mounts).filter((place) => !OWN_PLACES.test(place) && !places.includes(place)),
  );
  return lines;
}
