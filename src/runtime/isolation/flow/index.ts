export { reap, watchChildren } from "./children.ts";
export { creditedOutlet } from "./credited.ts";
export { Inlet } from "./inlet.ts";
export { Loop, type Watched } from "./loop.ts";
export { Outlet } from "./outlet.ts";
