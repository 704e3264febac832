export { Inlet } from "./inlet.ts";
export { Loop, reap, type Watched, watchChildren } from "./loop.ts";
export { creditedOutlet, Outlet } from "./outlet.ts";
