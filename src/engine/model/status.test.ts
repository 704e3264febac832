import { expect, test } from "vitest";
import { actionTo, CONTAINER_STATUSES, type ContainerStatus, ImpossibleTransition, nextStatus } from "./status.ts";

test("E82 a status that no action leads to, and one that nobody knows, is an error", () => {
  expect(CONTAINER_STATUSES.slice(1, -2).map(actionTo)).toEqual(["pull", "create", "start"]);
  for (const status of ["NONE", "RESOURCES_PROVISIONED", "STOPPED", "PAUSED"] as ContainerStatus[]) {
    expect(() => actionTo(status)).toThrow(new ImpossibleTransition(`no action takes a container on to ${status}`));
  }
});

test("E82 nothing leads on from a status that nobody knows", () => {
  expect(CONTAINER_STATUSES.map((status) => nextStatus(status))).toEqual(["PULLED", "CREATED", "RUNNING", undefined, undefined, undefined]);
  expect(() => nextStatus("PAUSED" as ContainerStatus)).toThrow(ImpossibleTransition);
});
