/** Every attack against runt, and against runt without the defence that stops it: in the short form (make test-security: the long one). */
import { mkdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { reachableRootfs } from "../support/programs.ts";
import { problem } from "./judge.ts";
import { allAttacks, type Place, runAttack } from "./run.ts";

const ROUNDS = Number(process.env["RUNT_SECURITY_ROUNDS"] ?? 50);

const attacks = await allAttacks();

describe.skipIf(process.geteuid?.() !== 0)("attacks (needs root)", () => {
  const directory = join(tmpdir(), `runt-security-${process.pid}`);
  let place: Place;

  beforeAll(() => {
    mkdirSync(directory, { mode: 0o711 });
    place = { directory, sharedRootfs: reachableRootfs(directory), rounds: ROUNDS };
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  test.each(attacks)("$id: $title", async (attack) => {
    for (const name of ["runt", "undefended"] as const) expect(problem(name, await runAttack(attack, name, place))).toBeUndefined();
  });
});
