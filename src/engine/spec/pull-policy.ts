/** Whether the source of an image is asked; what each word means stands in the schema of a container. Imports nothing, because the client has the words, too. */

export const PULL_POLICIES = ["always", "once", "prefer-cached", "default", "never"] as const;

export type PullPolicy = (typeof PULL_POLICIES)[number];
