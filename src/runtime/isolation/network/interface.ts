/** A network interface of the container, as it is on the host and has to be in the guest. Plain data. */
import type { Address } from "../../network/index.ts";
import type { Route } from "./routes.ts";

export interface Interface {
  readonly name: string;
  /** As QEMU and people write it: six pairs of digits. The guest knows the interface by it. */
  readonly hardwareAddress: string;
  readonly mtu: number;
  readonly addresses: readonly Address[];
  readonly routes: readonly Route[];
}

/** The other end of an interface of the machine: a tap that QEMU makes in the network namespace. */
export const tapName = (number: number): string => `${TAP}${number}`;
export const isTapName = (name: string): boolean => name.startsWith(TAP);
const TAP = "runt-tap";

export function hardwareText(address: readonly number[]): string {
  return address.map((byte) => byte.toString(16).padStart(2, "0")).join(":");
}
