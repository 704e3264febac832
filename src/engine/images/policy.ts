/** Decides whether the source of an image is asked, and what a failure means. Pure. */
import type { PullPolicy } from "../spec/index.ts";

export interface PullDecision {
  readonly asksSource: boolean;
  /** Whether the cached image is used when the source fails. */
  readonly fallsBack: boolean;
  /** What a failure without a usable image stops: the whole task, or only the container, as if it could not be created. */
  readonly failureStops: "task" | "container";
}

/** @param isCached whether a pull of this name has succeeded before, and the whole image is still in the store */
export function pullDecision(policy: PullPolicy, isCached: boolean): PullDecision {
  switch (policy) {
    case "always":
      return { asksSource: true, fallsBack: false, failureStops: "task" };
    case "once":
      return { asksSource: !isCached, fallsBack: false, failureStops: "task" };
    case "prefer-cached":
      return { asksSource: !isCached, fallsBack: false, failureStops: "container" };
    case "never":
      return { asksSource: false, fallsBack: false, failureStops: "container" };
    case "default":
      return { asksSource: true, fallsBack: isCached, failureStops: "container" };
  }
}
