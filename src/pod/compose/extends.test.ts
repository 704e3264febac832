import { expect, test } from "vitest";
import { one, only, read, told } from "../../../test/support/engine/compose-file.ts";

test("profiles, extends, anchors and extensions", () => {
  const text = `x-base: &base { x-runt-rootfs: /r, command: x }
services:
  base:
    <<: *base
    environment: { A: "1", B: "1" }
    cap_add: [NET_ADMIN]
    profiles: [never]
  web:
    extends: { service: base }
    environment: { B: "2" }
    cap_add: [SYS_TIME]
    command: y z
    profiles: [shop]
    x-note: nothing
`;
  expect(read(text).tasks).toEqual([]);
  const { tasks } = read(text, { profiles: ["shop"] });
  expect(tasks.map(({ name }) => name)).toEqual(["web"]);
  expect(tasks[0]!.containers[0]).toMatchObject({
    command: "y",
    args: ["z"],
    env: { A: "1", B: "2" },
    capabilities: { add: ["CAP_NET_ADMIN", "CAP_SYS_TIME"] },
  });
  expect(told(one("    extends: nobody\n"))).toEqual(["f:5:5: /services/web/extends: there is no service nobody"]);
  expect(told(one("    extends: { file: none.yaml, service: a }\n"))).toEqual([
    "f:5:5: /services/web/extends: /srv/app/none.yaml cannot be read: ENOENT: /srv/app/none.yaml",
  ]);
  expect(told(`${one("    extends: b\n")}  b: { extends: web }\n`)[0]).toContain("services extend each other: web -> b -> web");
});

test("a service of another file, and what that one extends: its variables are replaced once, its paths are those beside it", () => {
  const { containers } = only("services:\n  web: { extends: { file: deep/base.yaml, service: base } }\n", {
    environment: { WORD: "fast" },
  });
  expect(containers[0]).toMatchObject({
    command: "run",
    args: ["fast"],
    hostname: "$HOME",
    env: { FILE: "deep" },
    mounts: [
      { source: "/srv/app/deep/data", target: "/d" },
      { source: "/srv/app/deep/up", target: "/u" },
    ],
  });
  expect(told("services:\n  web: { extends: { file: loop.yaml, service: loop } }\n")[0]).toContain(
    "services extend each other: web -> /srv/app/loop.yaml#loop -> /srv/app/deep/base.yaml#loop -> /srv/app/loop.yaml#loop",
  );
  expect(told("services:\n  web: { extends: { file: bad.yaml, service: a } }\n")[0]).toMatch(/: \/srv\/app\/bad\.yaml:\d+:\d+: /);
  expect(told("services:\n  web: { extends: { file: deep/more.yaml, service: none } }\n")[0]).toContain(
    "there is no service none in /srv/app/deep/more.yaml",
  );
});

test("names of containers, names in networks, and what is restarted with what", () => {
  const { tasks, findings } = read(`services:
  db:
    x-runt-rootfs: /r
    command: x
    container_name: database
    networks: { back: { aliases: [store] }, admin: }
    sysctls: [net.core.somaxconn=9]
  web: { x-runt-rootfs: /r, command: x, depends_on: { db: { condition: service_started, restart: true } } }
networks: { back: , admin: }
`);
  expect(findings).toEqual([]);
  expect(tasks[0]).toMatchObject({
    name: "db",
    containers: [{ name: "database" }],
    network: { name: "back", aliases: ["database", "store"], further: [{ name: "admin", aliases: ["database"] }] },
    sysctls: { "net.core.somaxconn": "9" },
  });
  expect(tasks[1]!.containers[0]!.dependsOn).toEqual([{ container: "db/database", condition: "START", restart: true }]);
  expect(told(one("    network_mode: host\n    sysctls: { net.core.somaxconn: 1 }\n"))[0]).toMatch(
    /^f:6:\d+: \/services\/web\/sysctls: needs a network/,
  );
});

test("each service is in the network of its project, or in one that the file has; with network_mode in none", () => {
  expect(only(one("")).network).toMatchObject({ mode: "bridge", name: "default", ports: [] });
  expect(only(`${one("    networks: { back: }\n    dns: 192.0.2.53\n    ports: ['80:80']\n")}networks:\n  back:\n`).network).toMatchObject({
    name: "back",
    dns: { servers: ["192.0.2.53"] },
    ports: [{ container: 80, host: 80 }],
  });
  expect(only(one("    network_mode: none\n"))).not.toHaveProperty("network");
  expect(told(one("    networks: [back]\n"))).toEqual(["f:5:5: /services/web/networks: the file has no network back"]);
  expect(only(`${one("    networks: [a, b]\n")}networks: { a: , b: }\n`).network).toMatchObject({ name: "a", further: [{ name: "b" }] });
  expect(only(one("    networks: []\n")).network).toMatchObject({ name: "default" });
  expect(told(one("    network_mode: host\n    networks: [default]\n"))).toEqual([
    "f:6:5: /services/web/networks: with network_mode host there are no networks",
  ]);
  expect(told(`${one("    networks: [a]\n")}networks: { a: { driver: calico } }\n`)[0]).toContain(
    "/networks/a/driver: only bridge, macvlan, ipvlan and overlay are supported",
  );
});

test("what is not required and not switched on is not waited for", () => {
  const text = (required: boolean) =>
    `${one(`    depends_on: { db: { condition: service_started, required: ${required} } }\n`)}  db: { x-runt-rootfs: /r, command: x, profiles: [db] }\n`;
  expect(read(text(false)).tasks.map(({ containers }) => containers[0]!.dependsOn)).toEqual([[]]);
  expect(read(text(false), { profiles: ["db"] }).tasks[0]!.containers[0]!.dependsOn).toMatchObject([{ container: "db/db" }]);
  expect(told(text(true))).toHaveLength(1);
});
