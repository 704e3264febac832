import { expect, it, test } from "vitest";
import { SECCOMP_ACTIONS, SECCOMP_ARCHITECTURES } from "../spec/index.ts";
import { processState, refusesExecve } from "./prepare.ts";
import { assemble, type Instruction } from "./stub.ts";

const { SCMP_ACT_ALLOW: ALLOW, SCMP_ACT_ERRNO: ERRNO } = SECCOMP_ACTIONS;

/** `other` for every call but execve, and `execve` for that one, on x86-64 alone. */
const filter = (execve: number, other: number): ArrayBuffer =>
  assemble([
    [0x20, 0, 0, 4],
    [0x15, 1, 0, SECCOMP_ARCHITECTURES.SCMP_ARCH_X86_64],
    [0x06, 0, 0, 0],
    [0x20, 0, 0, 0],
    [0x15, 0, 1, 59],
    [0x06, 0, 0, execve],
    [0x06, 0, 0, other],
  ] satisfies Instruction[]);

it.each(Object.entries(SECCOMP_ACTIONS))("%s for execve", (name, action) => {
  const refused = ["SCMP_ACT_KILL", "SCMP_ACT_KILL_THREAD", "SCMP_ACT_KILL_PROCESS", "SCMP_ACT_TRAP", "SCMP_ACT_ERRNO"].includes(name);
  expect(refusesExecve(filter(action, ALLOW), "amd64")).toBe(refused);
  expect(refusesExecve(filter(ALLOW, action), "amd64")).toBe(false);
});

test("an errno is part of the answer, and another machine has another number", () => {
  expect(refusesExecve(filter(ERRNO + 38, ALLOW), "amd64")).toBe(true);
  expect(refusesExecve(filter(ALLOW, ERRNO + 1), "arm64")).toBe(true);
});

test("what looks at an argument of execve, and what is no filter, may allow it", () => {
  const looks = assemble([
    [0x20, 0, 0, 16],
    [0x15, 0, 1, 7],
    [0x06, 0, 0, 0],
    [0x06, 0, 0, ALLOW],
  ]);
  expect(refusesExecve(looks, "amd64")).toBe(false);
  expect(refusesExecve(assemble([[0x87, 0, 0, 0]]), "amd64")).toBe(false);
  expect(refusesExecve(new ArrayBuffer(0), "amd64")).toBe(false);
});

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
