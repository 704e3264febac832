/** What of the host a container sees: each bind mount becomes an entry of the shared directory, and in the guest a bind mount of that. */
import type { SpecMount } from "../../spec/index.ts";
import { GUEST, JAIL, SHARED } from "../places.ts";
import type { MountPoint } from "../request.ts";

export function isBind({ type, options }: SpecMount): boolean {
  return type === "bind" || (options ?? []).some((option) => option === "bind" || option === "rbind");
}

/** Options that mean something on the host: how far the bind reaches, that nothing may be written, and that a link is not followed. */
const ON_THE_HOST: ReadonlySet<string> = new Set(["bind", "rbind", "ro", "rro", "src-nofollow"]);

/** Which file of the host the source has to be: its numbers are others in the guest. */
const withoutValue = (option: string): string => (option.startsWith("src-nofollow=") ? "src-nofollow" : option);

/** The two halves of a bind mount; `number`: its place among the bind mounts. `shared`: where in the guest those are that the container has. */
function splitBind(mount: SpecMount, number: number, shared: string): { readonly host: SpecMount; readonly guest: SpecMount } {
  const place = `${SHARED.volume}${number}`;
  const options = (mount.options ?? []).filter((option) => ON_THE_HOST.has(withoutValue(option)));
  return {
    host: { destination: `${JAIL.share}/${place}`, type: "bind", source: mount.source ?? "", options: withBind(options) },
    guest: { ...mount, type: "bind", source: `${shared}/${place}`, options: withBind((mount.options ?? []).map(withoutValue)) },
  };
}

/** The pod's memory: what its containers map of it together has to be one file system in the guest. */
function isSharedMemory(mount: SpecMount): boolean {
  return isBind(mount) && partsOf(mount.destination).join("/") === "dev/shm";
}

/** Of what the guest has itself. A link may lead there. */
function boundInGuest(mount: SpecMount, source: string): SpecMount {
  const options = (mount.options ?? []).filter((option) => withoutValue(option) !== "src-nofollow");
  return { ...mount, type: "bind", source, options: withBind(options) };
}

/** Those that are in the root itself: what is below another mount is made there. */
export function mountPoints(mounts: readonly SpecMount[], inBundle: (path: string) => string): MountPoint[] {
  const places = mounts.map(({ destination }) => `/${partsOf(destination).join("/")}/`);
  return mounts.flatMap((mount, index) => {
    const place = places[index]!;
    if (places.slice(0, index).some((other) => place.startsWith(other))) return [];
    return { path: place.slice(0, -1), ...(isBind(mount) && { source: inBundle(mount.source ?? "") }) };
  });
}

const partsOf = (path: string): string[] => path.split("/").filter((part) => part !== "" && part !== ".");

function withBind(options: readonly string[]): string[] {
  return options.includes("bind") || options.includes("rbind") ? [...options] : ["bind", ...options];
}

export interface SplitMounts {
  /** As they are in the guest. */
  readonly mounts: readonly SpecMount[];
  /** Of the host, below the shared directory. */
  readonly volumes: readonly SpecMount[];
}

/**
 * Each bind mount has a half on the host, and one in the guest. `devices`: paths in the guest of those that are devices of it, by their places. `shared`: where
 * in the guest the container has what is shared with it.
 */
export function splitMounts(
  all: readonly SpecMount[],
  devices: ReadonlyMap<number, string>,
  shared: string,
  inPod: boolean,
  inBundle: (path: string) => string,
): SplitMounts {
  const volumes: SpecMount[] = [];
  const mounts = all.map((mount, index) => {
    if (!isBind(mount)) return mount;
    const device = devices.get(index);
    if (device !== undefined) return boundInGuest(mount, device);
    if (inPod && isSharedMemory(mount)) return boundInGuest(mount, GUEST.sharedMemory);
    const halves = splitBind({ ...mount, source: inBundle(mount.source ?? "") }, volumes.length, shared);
    volumes.push(halves.host);
    return halves.guest;
  });
  return { mounts, volumes };
}
