export { exposition, type Sample } from "./exposition.ts";
export { CPU_MODES, type GuestNumbers, type GuestReport, guestNumbers, guestSamples } from "./machine.ts";
