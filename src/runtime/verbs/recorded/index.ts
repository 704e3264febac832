export { makeRecorded } from "./recorded.ts";
