/** Statuses of containers and tasks, and their order. */

/** In order: the known status of an incarnation only moves forward. */
export const CONTAINER_STATUSES = ["NONE", "PULLED", "CREATED", "RUNNING", "RESOURCES_PROVISIONED", "STOPPED"] as const;
export type ContainerStatus = (typeof CONTAINER_STATUSES)[number];

export const TASK_STATUSES = ["NONE", "CREATED", "RUNNING", "STOPPED"] as const;
export type TaskStatus = (typeof TASK_STATUSES)[number];

export const RESOURCE_STATUSES = ["NONE", "CREATED", "REMOVED"] as const;
export type ResourceStatus = (typeof RESOURCE_STATUSES)[number];

/** The status in which a container does its work. */
export type Steady = "RUNNING" | "RESOURCES_PROVISIONED";
export type Desired = "RUNNING" | "STOPPED";

/** Whether a container has reached `status` or a later one. */
export function hasReached(known: ContainerStatus, status: ContainerStatus): boolean {
  return CONTAINER_STATUSES.indexOf(known) >= CONTAINER_STATUSES.indexOf(status);
}

export function isFurther(status: ContainerStatus, known: ContainerStatus): boolean {
  return CONTAINER_STATUSES.indexOf(status) > CONTAINER_STATUSES.indexOf(known);
}

/** A transition that does not exist. The types exclude it, so that another program must have changed the record. */
export class ImpossibleTransition extends Error {
  override readonly name = "ImpossibleTransition";
  readonly code = "impossible-transition";
}

/** The step that follows `known`. undefined: the container is there, or has ended. @throws ImpossibleTransition */
export function nextStatus(known: ContainerStatus): "PULLED" | "CREATED" | "RUNNING" | undefined {
  switch (known) {
    case "NONE":
      return "PULLED";
    case "PULLED":
      return "CREATED";
    case "CREATED":
      return "RUNNING";
    case "RUNNING":
    case "RESOURCES_PROVISIONED":
    case "STOPPED":
      return undefined;
    default:
      throw new ImpossibleTransition(`nothing leads on from ${known satisfies never}`);
  }
}

/** The action that leads to a status. A container gets to STOPPED by a stop from any status, so that it is excluded. @throws ImpossibleTransition */
export function actionTo(status: ContainerStatus): "pull" | "create" | "start" {
  switch (status) {
    case "PULLED":
      return "pull";
    case "CREATED":
      return "create";
    case "RUNNING":
      return "start";
    case "NONE":
    case "RESOURCES_PROVISIONED":
    case "STOPPED":
      throw new ImpossibleTransition(`no action takes a container on to ${status}`);
    default:
      throw new ImpossibleTransition(`no action takes a container on to ${status satisfies never}`);
  }
}
