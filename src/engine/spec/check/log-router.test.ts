import { expect, test } from "vitest";
import { parseTasks } from "../index.ts";

interface Given {
  readonly log?: object;
  readonly fields?: object;
  readonly routers?: number;
  readonly task?: object;
}

/** Messages of the findings of a task whose container `app` sends to `router`. */
function told({ log, fields = {}, routers = 1, task = { namespaces: { network: "shared" } } }: Given): string[] {
  const of = (name: string) => ({ name, rootfs: "/r", command: "x" });
  const router = (_: unknown, at: number) => ({ ...of(at === 0 ? "router" : `router${at}`), logRouter: true });
  const containers = [{ ...of("app"), log, ...fields }, ...Array.from({ length: routers }, router)];
  return parseTasks(JSON.stringify({ name: "t", ...task, secrets: [{ name: "s", file: "/s" }], containers })).findings.map(
    ({ pointer, message }) => `${pointer}: ${message}`,
  );
}

test("a container sends to the router of its task, with settings and secrets", () => {
  const log = { router: "router", tag: "own", options: { a: "1" }, secretOptions: { b: "s" } };
  expect(told({ log })).toEqual([]);
  for (const task of [{ network: {} }, { network: { mode: "host" } }, { namespaces: { network: "host" } }])
    expect(told({ log, task })).toEqual([]);
});

test.each<readonly [string, Given]>([
  [
    "/containers/0/log/router: needs a network that the containers share: the router could not be reached",
    { log: { router: "router" }, task: {} },
  ],
  ["/containers/0/log/router: there is no container other", { log: { router: "other" } }],
  ["/containers/0/log/router: container app is no log router", { log: { router: "app" } }],
  ["/containers/2/logRouter: the task has a log router already", { log: { router: "router" }, routers: 2 }],
  ["/containers/0/log/options: needs router", { log: { options: { a: "1" } } }],
  ["/containers/0/log/tag: needs router", { log: { tag: "x", forward: { socket: "/s" } } }],
  ["/containers/0/log/router: is forwarded already: give one", { log: { router: "router", forward: { socket: "/s" } } }],
  ["/containers/0/log/router: goes to the journal already: give one", { log: { router: "router", driver: "journald" } }],
  ["/containers/0/log/router: of a log that is not kept", { log: { router: "router", driver: "none" } }],
  ["/containers/0/log/secretOptions/b: the task has no secret none", { log: { router: "router", secretOptions: { b: "none" } } }],
  [
    "/containers/0/log/secretOptions/b: b is in options, too",
    { log: { router: "router", options: { b: "1" }, secretOptions: { b: "s" } } },
  ],
  ["/containers/0/log/options: is for a router of the same task", { log: { router: "r/router", options: { a: "1" } } }],
  [
    "/containers/0/log/router: config.json of a bundle has all variables, and the router's address is one",
    { log: { router: "router" }, fields: { rootfs: undefined, command: undefined, bundle: "/b" } },
  ],
])("refused: %s", (message, given) => {
  expect(told(given)).toContain(message);
});

test("a router that waits for who sends to it is a cycle, whose members are named", () => {
  const text = JSON.stringify({
    name: "t",
    namespaces: { network: "shared" },
    containers: [
      { name: "app", rootfs: "/r", command: "x", log: { router: "router" } },
      { name: "router", rootfs: "/r", command: "x", logRouter: true, dependsOn: [{ container: "app" }] },
    ],
  });
  expect(parseTasks(text).findings.map(({ pointer, message }) => `${pointer}: ${message}`)).toEqual([
    "/containers/0/log/router: containers wait for each other: app -> router -> app",
  ]);
});
