/** Fields that are accepted but have no effect. Each is reported by name, with the reason. */
import type { Problem } from "../../engine/spec/index.ts";
import { fieldsOf } from "./fields.ts";

type Path = readonly (string | number)[];

const CLUSTER = "is of a cluster, and has no effect on one host";
const MOUNT = "has no effect here, as with Docker on this system";

/** Paths within a service. "*" stands for each entry of a list or map. */
export const OF_SERVICE: readonly (readonly [path: string, why: string])[] = [
  ["attach", "has no effect: `runtctl logs -f` shows the output of services"],
  ["pull_refresh_after", "has no effect: write it as pull_policy: every_DURATION"],
  ["build/cache_from", "has no effect: the builder keeps its layers on this host"],
  ["build/cache_to", "has no effect: the builder keeps its layers on this host"],
  ["develop", "has no effect: files are not watched"],
  ["deploy/labels", "has no effect: they are of the service in a cluster, and not of its containers"],
  ["deploy/placement", CLUSTER],
  ["deploy/endpoint_mode", "has an effect on ports of the host only: the name of the service leads to each of its containers"],
  ["deploy/resources/reservations/generic_resources", CLUSTER],
  ["isolation", "has no effect: it is of Windows"],
  ["cpu_count", "has no effect here, as with Docker: it is of Windows"],
  ["cpu_percent", "has no effect here, as with Docker: it is of Windows"],
  ["mem_swappiness", "has no effect, as with Docker on cgroup v2"],
  ["deploy/restart_policy/window", "has no effect, as with Compose"],
  ["networks/*/priority", "has no effect, as with Compose"],
  ["ports/*/app_protocol", "has no effect: bytes are passed on as they are"],
  ["volumes/*/consistency", MOUNT],
  ["volumes/*/bind/selinux", "has no effect: there are no labels of SELinux here"],
  ["volumes/*/volume/labels", "has no effect: volumes have no labels"],
];

/** Paths within a file. With `only` the field is reported only if it has this value. */
export const OF_FILE: readonly (readonly [path: string, why: string, only?: string])[] = [
  ["version", "has no effect, as with Compose: leave it out"],
  ["models/*", "has no effect: models are not served"],
  ["networks/*/attachable", CLUSTER],
  ["networks/*/driver", "is a bridge: services of one host need no overlay", "overlay"],
  ["networks/*/ipam/options/*", "has no effect, as with Docker"],
  ["networks/*/labels", "has no effect: networks have no labels"],
  ["volumes/*/labels", "has no effect: volumes have no labels"],
  ["secrets/*/name", "has no effect: it has the name that services call it by"],
  ["secrets/*/labels", "has no effect: secrets have no labels"],
  ["configs/*/name", "has no effect: it has the name that services call it by"],
  ["configs/*/labels", "has no effect: configs have no labels"],
];

/** @param services the enabled services */
export function ignoredIn(file: unknown, services: Readonly<Record<string, unknown>>): Problem[] {
  return [
    ...OF_FILE.flatMap(([path, why, only]) => foundAt(file, path.split("/"), [], why, only)),
    ...Object.entries(services).flatMap(([name, service]) =>
      OF_SERVICE.flatMap(([path, why]) => foundAt(service, path.split("/"), ["services", name], why)),
    ),
  ];
}

function foundAt(value: unknown, [part, ...rest]: readonly string[], path: Path, why: string, only?: string): Problem[] {
  if (part === undefined)
    return value === undefined || (only !== undefined && value !== only) ? [] : [{ code: "shape", message: why, path }];
  if (part !== "*") return foundAt(fieldsOf(value)[part], rest, [...path, part], why, only);
  if (Array.isArray(value)) return value.flatMap((one, index) => foundAt(one, rest, [...path, index], why, only));
  return Object.entries(fieldsOf(value)).flatMap(([key, one]) => foundAt(one, rest, [...path, key], why, only));
}
