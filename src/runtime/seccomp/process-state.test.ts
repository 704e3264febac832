import { expect, it } from "vitest";
import { processState } from "./process-state.ts";

const STATE = { ociVersion: "1.2.0", id: "a", status: "creating", containerPid: 7, pid: 9, bundle: "/b", annotations: {} } as const;

it("is a container process state", () => {
  expect(JSON.parse(processState("data", { ...STATE, annotations: { k: "v" } }))).toEqual({
    ociVersion: "1.2.0",
    fds: ["seccompFd"],
    pid: 9,
    metadata: "data",
    state: { ociVersion: "1.2.0", id: "a", status: "creating", pid: 7, bundle: "/b", annotations: { k: "v" } },
  });
  expect(JSON.parse(processState("", STATE))).not.toHaveProperty("metadata");
});
