/** Images: pulls them from a source into a store on this host, and makes root file systems of them. */

export { Builder, type BuildPlace } from "./builder.ts";
export { checkLogin, type LoginCheck } from "./check-login.ts";
export type { Collected, CollectPolicy } from "./collect.ts";
export { ImageError, type ImageErrorCode } from "./errors.ts";
export { ImageStore, type ImageStoreOptions } from "./images.ts";
export { latestDigest, tagIn } from "./latest.ts";
export type { ImageId } from "./load.ts";
export { pullDecision } from "./policy.ts";
export type { ImageDetail, Images, Pin, Progress, PullRequest, StoredImage } from "./port.ts";
export type { ImageLimits } from "./scan.ts";
export { Slots } from "./waiting.ts";
