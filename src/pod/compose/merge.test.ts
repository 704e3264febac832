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
    volumes: ["/kept", "b:/data:ro", { type: "bind", source: "/s", target: "/x" }],
  });
});

test("networks and dependencies as lists are maps with names only", () => {
  expect(
    merged({ networks: ["a"], depends_on: ["x"] }, { networks: { b: { aliases: ["c"] } }, depends_on: { y: { restart: true } } }),
  ).toEqual({
    networks: { a: null, b: { aliases: ["c"] } },
    depends_on: { x: {}, y: { restart: true } },
  });
});
