export { launchOf, type Placement } from "./launch.ts";
export { type Unsupported, unsupportedIn } from "./supported.ts";
