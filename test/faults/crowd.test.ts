/**
 * Many verbs at once on one id: exactly one create wins, every answer is one that the verbs give one after the other, and no lock stays.
 * RUNT_CROWD_ROUNDS (20): `make test-crowd` takes 200.
 */
import { existsSync, readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { CGROUPS, isUnified } from "../support/cgroups.ts";
import { isRoot, isRunt, type Result, shell, useHarness } from "../support/harness.ts";
import { CGROUP_PARENT } from "../support/leaks.ts";
import { random } from "../support/random.ts";
import { ONE_LINE } from "./environment.ts";

const ROUNDS = Number(process.env["RUNT_CROWD_ROUNDS"] ?? 20);
const CROWD = 64;
const EXISTS = /^runt: container with given ID already exists: /;

/** Errors of a verb that came too early or too late. */
const ANSWERS = [
  EXISTS,
  /container does not exist/,
  /cannot start an already running container/,
  /cannot start a container that has stopped/,
  /cannot exec in a (stopped|paused) container/,
  /container not (running|paused)/,
  /container already paused/,
  /container with id .* is not running/,
  /cannot delete container .* that is not stopped/,
  // Whose cgroup is still there when it is looked at, and whose init is killed while it is made.
  /container's cgroup is not empty/,
  /container init died before it was ready/,
  // The target of exec, pause and update goes away between the look and the deed.
  /^runt: (exec failed: )?unable to start container process: /,
  /^runt: .*\/sys\/fs\/cgroup\/.*: no such (file or directory|device)/,
];

/** A create or run that `delete --force` has ended: by TERM where it still could answer, else by KILL. */
const ENDED: Readonly<Record<number, RegExp>> = { 143: /^runt: TERM: ended before the program began\n$/, 137: /^$/ };

describe.skipIf(!isRoot || !isRunt)("a crowd (needs root)", () => {
  const { bundle, id, root, runtime } = useHarness();
  const pick = random(3);

  const staying = () => bundle((config) => shell(config, "exec sleep 1000"));
  const clean = async (name: string) => {
    expect(await runtime(["delete", "--force", name])).toMatchObject({ status: 0, stderr: "" });
    expect(existsSync(root) ? readdirSync(root).filter((entry) => entry !== "@cache") : []).toEqual([]);
    const places = isUnified ? [CGROUPS] : readdirSync(CGROUPS).map((place) => `${CGROUPS}/${place}`);
    expect(places.filter((path) => existsSync(path + CGROUP_PARENT))).toEqual([]);
  };

  test.each([
    ["create", "create"],
    ["create", "run -d"],
  ])(`%s and %s of one id, ${ROUNDS} rounds: exactly one wins`, async (one, other) => {
    const path = staying();
    const name = id();
    for (let round = 0; round < ROUNDS; round++) {
      const results = await Promise.all([one, other].map((verb) => runtime([...verb.split(" "), "-b", path, name])));
      expect(results.map(({ status }) => status).sort()).toEqual([0, 1]);
      expect(results.find(({ status }) => status === 1)?.stderr).toMatch(EXISTS);
      expect(JSON.parse((await runtime(["state", name])).stdout).status).toMatch(/^(created|running)$/);
      await clean(name);
    }
  });

  test("create and forced deletes of one id: the container is whole or gone", async () => {
    const path = staying();
    const name = id();
    for (let round = 0; round < ROUNDS; round++) {
      const create = ["create", "-b", path, name];
      const words = [create, ["delete", "--force", name], create, ["delete", "--force", name], ["state", name]];
      const results = await Promise.all(words.map((args) => runtime(args)));
      for (const [index, { status, stderr }] of results.entries()) {
        if (status === 0) continue;
        const ended = words[index] === create ? ENDED[status] : undefined;
        expect(stderr, words[index]?.join(" ")).toMatch(ended ?? /^runt: .*(already exists|does not exist|is not empty)/);
      }
      const state = await runtime(["state", name]);
      if (state.status === 0) {
        expect(JSON.parse(state.stdout).status).toBe("created");
        expect(await runtime(["start", name])).toMatchObject({ status: 0 });
      } else expect(state.stderr).toContain("does not exist");
      await clean(name);
    }
  });

  test(`${CROWD} mixed verbs at once`, async () => {
    const path = staying();
    const name = id();
    const verbs: readonly (readonly string[])[] = [
      ["create", "-b", path, name],
      ["run", "-d", "-b", path, name],
      ["start", name],
      ["state", name],
      ["list"],
      ["exec", name, "true"],
      ["kill", name, "TERM"],
      ["kill", name, "KILL"],
      ["pause", name],
      ["resume", name],
      ["update", "--pids-limit", "30", name],
      ["ps", name],
      ["events", "--stats", name],
      ["inspect", name],
      ["delete", name],
      ["delete", "--force", name],
    ];
    const answered = new Map<string, number>();
    for (let round = 0; round < Math.ceil(ROUNDS / 5); round++) {
      // Every other time there is one to begin with.
      if (round % 2 === 0) expect(await runtime(["run", "-d", "-b", path, name])).toMatchObject({ status: 0 });
      const crowd = Array.from({ length: CROWD }, () => verbs[pick(verbs.length)]!);
      const results: Result[] = await Promise.all(crowd.map((args) => runtime(args)));
      for (const [index, { status, stderr }] of results.entries()) {
        const args = crowd[index]!;
        answered.set(args[0]!, (answered.get(args[0]!) ?? 0) + (status === 0 ? 1 : 0));
        if (status === 0) continue;
        // The program of an exec may have been running when the container was killed.
        if (args[0] === "exec" && status === 137) continue;
        if ((args[0] === "create" || args[0] === "run") && ENDED[status]?.test(stderr)) continue;
        expect([1, 255], `${args[0]}: ${stderr}`).toContain(status);
        expect(stderr, args[0]).toMatch(ONE_LINE);
        expect(
          ANSWERS.some((answer) => answer.test(stderr)),
          `${args[0]}: ${stderr}`,
        ).toBe(true);
      }
      // No lock is left, and none to wait for: that is for 10 s.
      const begun = performance.now();
      await clean(name);
      expect(performance.now() - begun).toBeLessThan(9_500);
    }
    // The round was no queue of refusals.
    expect([...answered.values()].filter((worked) => worked > 0).length).toBeGreaterThan(5);
  });
});
