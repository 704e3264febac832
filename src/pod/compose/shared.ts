/** What a service takes from another one of its file. */
import type { ServicePlace } from "./place.ts";
import type { ComposeInput, ServiceInput } from "./schema.ts";

type Mount = NonNullable<ServiceInput["volumes"]>[number];

/** The mounts of volumes_from come first, as far as the service has no other one at their places. Source: Compose specification, "volumes_from". */
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
  return { ...rest, ...(own.length + others.length === 0 ? {} : { volumes: [...others, ...own] }) };
}

function targetOf(mount: Mount): string {
  if (typeof mount !== "string") return mount.target;
  const [first = "", second = first] = mount.split(":");
  return second;
}

function isShared(mount: Mount): boolean {
  return typeof mount === "string" ? mount.includes(":") : mount.source !== undefined;
}

function readOnly(mount: Mount): Mount {
  if (typeof mount !== "string") return { ...mount, read_only: true };
  const [source, target, options = ""] = mount.split(":");
  const kept = options.split(",").filter((one) => one !== "" && one !== "rw" && one !== "ro");
  return `${source}:${target}:${["ro", ...kept].join(",")}`;
}
