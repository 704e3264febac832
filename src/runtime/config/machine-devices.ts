/** Devices that a container in a virtual machine can have: data for `create`, `validate` and docs/vm.md. Pure. */
import type { SpecDevice } from "../spec/index.ts";

/** Character devices of the guest's kernel, by their numbers; `module`: what the guest loads for one. */
const CHARACTERS: Readonly<Record<string, { readonly path: string; readonly module?: "tun" }>> = {
  "1:3": { path: "/dev/null" },
  "1:5": { path: "/dev/zero" },
  "1:7": { path: "/dev/full" },
  "1:8": { path: "/dev/random" },
  "1:9": { path: "/dev/urandom" },
  "5:0": { path: "/dev/tty" },
  "5:2": { path: "/dev/ptmx" },
  "10:200": { path: "/dev/net/tun", module: "tun" },
  "10:229": { path: "/dev/fuse" },
};

export interface DeviceNumber {
  readonly major: number;
  readonly minor: number;
}

/** undefined: the guest's kernel has no such character device. */
export function guestCharacter({ major, minor }: DeviceNumber): { readonly path: string; readonly module?: "tun" } | undefined {
  return Object.hasOwn(CHARACTERS, `${major}:${minor}`) ? CHARACTERS[`${major}:${minor}`] : undefined;
}

/** Why a container in a machine cannot have this entry of linux.devices; undefined: it can. */
export function unfitDevice({ type, path, major, minor }: SpecDevice): string | undefined {
  if (type !== "c" && type !== "u") return undefined;
  const number = { major: Number(major ?? 0), minor: Number(minor ?? 0) };
  return guestCharacter(number) ? undefined : unfitCharacter(number, path);
}

export function unfitCharacter({ major, minor }: DeviceNumber, path: string): string {
  return `the character device ${major}:${minor} (${path}): the guest's kernel has none of this number`;
}
