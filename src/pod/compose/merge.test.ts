import { expect, test } from "vitest";
import { merged } from "./merge.ts";

/** Compose specification, "Merging service definitions": "The same output is produced if array syntax is used." */
test("variables are maps, however they are written", () => {
  expect(merged({ environment: ["TZ=utc", "PORT=80", "OUTSIDE"] }, { environment: { PORT: 8080 } })).toEqual({
    environment: { TZ: "utc", PORT: 8080, OUTSIDE: null },
  });
});

test("lists are joined, the lower first; the same twice is once, where it is a set; commands are one value", () => {
  expect(
    merged(
      { cap_add: ["A", "B"], dns: ["1.1.1.1"], command: ["a"], healthcheck: { test: ["CMD", "a"], retries: 2 } },
      { cap_add: ["B", "C"], dns: ["1.1.1.1"], command: ["b"], healthcheck: { test: ["CMD", "b"] } },
    ),
  ).toEqual({ cap_add: ["A", "B", "C"], dns: ["1.1.1.1"], command: ["b"], healthcheck: { test: ["CMD", "b"], retries: 2 } });
});

test("of two volumes at one path the upper is mounted", () => {
  expect(
    merged({ volumes: ["a:/data:rw", "/kept", "x:/x"] }, { volumes: ["b:/data:ro", { type: "bind", source: "/s", target: "/x" }] }),
  ).toEqual({
    volumes: ["b:/data:ro", "/kept", { type: "bind", source: "/s", target: "/x" }],
  });
});

test("networks and dependencies as lists are maps with names only", () => {
  expect(
    merged({ networks: ["a"], depends_on: ["x"] }, { networks: { b: { aliases: ["c"] } }, depends_on: { y: { restart: true } } }),
  ).toEqual({
    networks: { a: null, b: { aliases: ["c"] } },
    depends_on: { x: { condition: "service_started", required: true }, y: { restart: true } },
  });
});

/** Source: compose-go, override/uncity.go. */
test("of two entries for one target the later one counts: devices, secrets, configs, volumes, env_file", () => {
  const below = {
    devices: ["/dev/a:/dev/x", "/dev/b"],
    secrets: ["key", { source: "s", target: "/run/secrets/t" }],
    configs: ["c", { source: "d", target: "/etc/d" }],
    env_file: ["a.env", { path: "b.env", required: false }],
    build: { secrets: ["key"] },
  };
  const above = {
    devices: ["/dev/c:/dev/x:r"],
    secrets: [
      { source: "other", target: "/run/secrets/t" },
      { source: "key", mode: 0o400 },
    ],
    configs: [{ source: "e", target: "/etc/d" }],
    env_file: ["b.env"],
    build: { secrets: ["key"] },
  };
  expect(merged(below, above)).toEqual({
    devices: ["/dev/c:/dev/x:r", "/dev/b"],
    secrets: [
      { source: "key", mode: 0o400 },
      { source: "other", target: "/run/secrets/t" },
    ],
    configs: ["c", { source: "e", target: "/etc/d" }],
    env_file: ["a.env", "b.env"],
    build: { secrets: ["key", "key"] },
  });
});

test("a host in both has both addresses, however the lists are written", () => {
  const both = (below: unknown, above: unknown) => merged({ extra_hosts: below }, { extra_hosts: above })["extra_hosts"];
  expect(both(["db:10.0.0.1", "six=::1"], ["db:10.0.0.2", "db:10.0.0.1"])).toEqual(["db:10.0.0.1", "six=::1", "db:10.0.0.2"]);
  expect(both({ db: "10.0.0.1" }, { db: ["10.0.0.2", "10.0.0.3"] })).toEqual(["db=10.0.0.1", "db=10.0.0.2", "db=10.0.0.3"]);
  expect(merged({ build: { extra_hosts: ["a:10.0.0.1"] } }, { build: { extra_hosts: { a: "10.0.0.2" } } })).toEqual({
    build: { extra_hosts: ["a:10.0.0.1", "a=10.0.0.2"] },
  });
});

test("a dependency in a list is one on the start; a range of addresses is that of its subnet; a limit is one value", () => {
  expect(merged({ depends_on: { b: { condition: "service_healthy", required: false, restart: true } } }, { depends_on: ["b"] })).toEqual({
    depends_on: { b: { condition: "service_started", required: true, restart: true } },
  });
  const ranges = (below: object, above: object) => merged({ ipam: { config: [below] } }, { ipam: { config: [above] } })["ipam"];
  expect(ranges({ subnet: "10.1.0.0/24", gateway: "10.1.0.1" }, { subnet: "10.1.0.0/24", ip_range: "10.1.0.128/25" })).toEqual({
    config: [{ subnet: "10.1.0.0/24", gateway: "10.1.0.1", ip_range: "10.1.0.128/25" }],
  });
  expect(ranges({ subnet: "10.1.0.0/24", gateway: "10.1.0.1" }, { subnet: "10.2.0.0/24" })).toEqual({
    config: [{ subnet: "10.2.0.0/24" }],
  });
  expect(merged({ ulimits: { nofile: { soft: 1, hard: 2 } } }, { ulimits: { nofile: { soft: 3 } } })).toEqual({
    ulimits: { nofile: { soft: 3 } },
  });
});

test("options of a log stay when only one of both names its driver", () => {
  expect(merged({ logging: { options: { a: "1" } } }, { logging: { driver: "local", options: { b: "2" } } })).toEqual({
    logging: { driver: "local", options: { a: "1", b: "2" } },
  });
  expect(merged({ logging: { driver: "local", options: { a: "1" } } }, { logging: { driver: "journald" } })).toEqual({
    logging: { driver: "journald" },
  });
});
