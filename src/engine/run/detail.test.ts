import { expect, test } from "vitest";
import { parseTasks } from "../spec/index.ts";
import { withoutValues } from "./detail.ts";

const SECRET = "SEKRET";
const http = { port: 80, path: `/${SECRET}?key=${SECRET}`, headers: { Authorization: `Bearer ${SECRET}` } };
const command = ["/bin/check", `--token=${SECRET}`];

test("readers see no value that may be a secret: headers, paths, arguments, environments, options, annotations, files", () => {
  const container = {
    name: "a",
    rootfs: "/srv/a",
    command: "/bin/app",
    args: ["--password", SECRET],
    env: { TOKEN: SECRET },
    annotations: { token: SECRET },
    healthCheck: { http },
    livenessCheck: { command },
    startupCheck: { http: { ...http, tls: true } },
    postStart: { http },
    preStop: { command },
    agents: [{ name: "agent", command, env: { TOKEN: SECRET } }],
    log: { router: "router", options: { apikey: SECRET } },
    secrets: [{ secret: "s", env: "S" }],
  };
  const { tasks, findings } = parseTasks(
    JSON.stringify({
      name: "t",
      annotations: { document: SECRET },
      namespaces: { network: "shared" },
      volumes: [{ name: "v", files: { f: { content: SECRET } } }],
      secrets: [{ name: "s", exec: ["/bin/vault", SECRET] }],
      containers: [container, { name: "router", rootfs: "/srv/r", command: "/bin/router", logRouter: true }],
    }),
  );
  expect(findings).toEqual([]);
  const shown = withoutValues(tasks[0]!);
  expect(JSON.stringify(shown)).not.toContain(SECRET);
  // What is left says what is there.
  expect(shown).toMatchObject({
    name: "t",
    annotations: { document: null },
    volumes: [{ name: "v", files: { f: null } }],
    secrets: [{ name: "s", exec: ["/bin/vault", null] }],
  });
  expect((shown["containers"] as object[])[0]).toMatchObject({
    command: "/bin/app",
    args: [null, null],
    env: { TOKEN: null },
    healthCheck: { http: { port: 80, path: null, headers: { Authorization: null } }, retries: 3 },
    livenessCheck: { command: ["/bin/check", null] },
    agents: [{ name: "agent", command: ["/bin/check", null], env: { TOKEN: null } }],
    log: { router: "router", options: { apikey: null } },
    secrets: [{ secret: "s", env: "S" }],
  });
});

test("a field of a container that has the name of a hidden one elsewhere is shown: options of resolv.conf, paths of files", () => {
  const { tasks } = parseTasks(
    JSON.stringify({
      name: "t",
      dns: { servers: ["192.0.2.1"], options: ["ndots:1"] },
      containers: [{ name: "a", rootfs: "/srv/a", command: "/bin/app", endMessage: { path: "/run/end" } }],
    }),
  );
  expect(withoutValues(tasks[0]!)).toMatchObject({ dns: { options: ["ndots:1"] }, containers: [{ endMessage: { path: "/run/end" } }] });
});
