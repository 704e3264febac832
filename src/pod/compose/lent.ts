/** Mounts that one service lends to others with `volumes_from`. Source: Compose specification, "volumes_from". */
import { placeOf } from "./paths.ts";
import type { ServicePlace } from "./place.ts";
import type { ComposeInput, ServiceInput } from "./schema.ts";

/** A mount, as a service lends it to another one with `volumes_from`. */
type Mount = NonNullable<ServiceInput["volumes"]>[number];

/** Gives a name to each unnamed volume that another service uses with `volumes_from`, so that both services get the same volume. */
export function withSharedVolumes({ services, volumes, ...project }: ComposeInput): ComposeInput {
  const taken = new Set(Object.values(services).flatMap(({ volumes_from: from = [] }) => from.map((one) => one.split(":")[0]!)));
  const added: Record<string, null> = {};
  const named = (key: string, mount: Mount): Mount => {
    const isUnnamed = typeof mount === "string" ? !mount.includes(":") : mount.type === "volume" && mount.source === undefined;
    if (!isUnnamed) return mount;
    const name = `anonymous-${key}${targetOf(mount).replaceAll(/[^A-Za-z0-9]+/g, "-")}`;
    added[name] = null;
    return typeof mount === "string" ? `${name}:${mount}` : { ...mount, source: name };
  };
  const changed = Object.entries(services).map(([key, service]): [string, ServiceInput] => {
    const { volumes: own } = service;
    return [key, taken.has(key) && own !== undefined ? { ...service, volumes: own.map((mount) => named(key, mount)) } : service];
  });
  const all = Object.keys(added).length === 0 ? volumes : { ...volumes, ...added };
  return { ...project, services: Object.fromEntries(changed), ...(all === undefined ? {} : { volumes: all }) };
}

/** Mounts from `volumes_from` come first, except those whose targets the service mounts itself. Source: Compose specification, "volumes_from". */
export function expanded(key: string, service: ServiceInput, { services }: ComposeInput, { refuse }: ServicePlace): ServiceInput {
  const { volumes_from: from = [], volumes: own = [], ...rest } = service;
  const taken = new Set(own.map(targetOf));
  const others = from.flatMap((written, index): Mount[] => {
    const [name = "", access] = written.split(":");
    const at = ["volumes_from", index];
    if (name === "container" || !Object.hasOwn(services, name) || name === key) {
      refuse(name === "container" ? "containers of others are not found: name a service" : `there is no other service ${name}`, at);
      return [];
    }
    const mounts = (services[name]!.volumes ?? []).filter((mount) => !taken.has(targetOf(mount)));
    if (mounts.some((mount) => !isShared(mount))) refuse(`a volume of ${name} without a name cannot be shared: give it one`, at);
    return mounts.filter(isShared).map((mount) => (access === "ro" ? readOnly(mount) : mount));
  });
  return { ...rest, volumes_from: from, ...(own.length + others.length === 0 ? {} : { volumes: [...others, ...own] }) };
}

function targetOf(mount: Mount): string {
  if (typeof mount !== "string") return placeOf(mount.target);
  const [first = "", second = first] = mount.split(":");
  return placeOf(second);
}

function isShared(mount: Mount): boolean {
  // A tmpfs is taken over, but each service gets one of its own.
  return typeof mount === "string" ? mount.includes(":") : mount.source !== undefined || mount.type === "tmpfs";
}

function readOnly(mount: Mount): Mount {
  if (typeof mount !== "string") return { ...mount, read_only: true };
  const [source, target, options = ""] = mount.split(":");
  const kept = options.split(",").filter((one) => one !== "" && one !== "rw" && one !== "ro");
  return `${source}:${target}:${["ro", ...kept].join(",")}`;
}
