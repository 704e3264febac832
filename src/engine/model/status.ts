/** Statuses and their order. */

/** In order: what is known of one incarnation of a container only moves forward. */
export const CONTAINER_STATUSES = ["NONE", "PULLED", "CREATED", "RUNNING", "RESOURCES_PROVISIONED", "STOPPED"] as const;
export type ContainerStatus = (typeof CONTAINER_STATUSES)[number];

export const TASK_STATUSES = ["NONE", "CREATED", "RUNNING", "STOPPED"] as const;
export type TaskStatus = (typeof TASK_STATUSES)[number];

export const RESOURCE_STATUSES = ["NONE", "CREATED", "REMOVED"] as const;
export type ResourceStatus = (typeof RESOURCE_STATUSES)[number];

/** What a container is wanted to be: where it works, or ended. */
export type Steady = "RUNNING" | "RESOURCES_PROVISIONED";
export type Desired = "RUNNING" | "STOPPED";

/** Whether a container has come as far as `status`, or further. */
export function hasReached(known: ContainerStatus, status: ContainerStatus): boolean {
  return CONTAINER_STATUSES.indexOf(known) >= CONTAINER_STATUSES.indexOf(status);
}

export function isFurther(status: ContainerStatus, known: ContainerStatus): boolean {
  return CONTAINER_STATUSES.indexOf(status) > CONTAINER_STATUSES.indexOf(known);
}

/** What the state of a container does not allow. The types rule it out: a record that says it was not written by this program. */
export class ImpossibleTransition extends Error {
  override readonly name = "ImpossibleTransition";
  readonly code = "impossible-transition";
}

/** The step after `known` on the way to `steady`. undefined: it is there, or has ended. @throws ImpossibleTransition */
export function nextStatus(known: ContainerStatus, steady: Steady): Exclude<ContainerStatus, "NONE" | "STOPPED"> | undefined {
  switch (known) {
    case "NONE":
      return "PULLED";
    case "PULLED":
      return "CREATED";
    case "CREATED":
      return "RUNNING";
    case "RUNNING":
      return steady === "RESOURCES_PROVISIONED" ? "RESOURCES_PROVISIONED" : undefined;
    case "RESOURCES_PROVISIONED":
    case "STOPPED":
      return undefined;
    default:
      throw new ImpossibleTransition(`nothing leads on from ${known satisfies never}`);
  }
}

/** The action that takes a container on to a status. @throws ImpossibleTransition: none does; to STOPPED it is a stop, from wherever it is */
export function actionTo(status: ContainerStatus): "pull" | "create" | "start" | "provision" {
  switch (status) {
    case "PULLED":
      return "pull";
    case "CREATED":
      return "create";
    case "RUNNING":
      return "start";
    case "RESOURCES_PROVISIONED":
      return "provision";
    case "NONE":
    case "STOPPED":
      throw new ImpossibleTransition(`no action takes a container on to ${status}`);
    default:
      throw new ImpossibleTransition(`no action takes a container on to ${status satisfies never}`);
  }
}
