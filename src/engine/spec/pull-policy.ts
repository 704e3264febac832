/**
 * When the registry is asked for an image. The schema of a container explains the values. This file has no imports, because the client uses it
 * without the schemas.
 */

export const PULL_POLICIES = ["always", "once", "prefer-cached", "default", "never"] as const;

export type PullPolicy = (typeof PULL_POLICIES)[number];
