/**
 * The host's side of a machine's channel against the rules, written a second time: whatever a guest says, both agree whether it may. And each check of
 * the host's side is needed: without it they differ.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { build, type Plugin } from "esbuild";
import { describe, expect, it } from "vitest";
import * as channel from "../../src/runtime/isolation/channel/index.ts";
import { CHECKS, type Check, withoutCheck } from "../support/channel/checks.ts";
import { ChannelRules } from "../support/channel/rules.ts";
import { damaged, type Random, randomFrom, type Step, session } from "../support/channel/sessions.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { REPOSITORY } from "../support/programs.ts";

const ROUNDS = Number(process.env["RUNT_FUZZ"] ?? 1000);
const SEED = Number(process.env["RUNT_FUZZ_SEED"] ?? 1);
const MUTANT_ROUNDS = 20_000;

type Channel = Pick<typeof channel, "FrameDecoder" | "HostSession" | "ProtocolError">;
const CHANNELS = ["stdout", "stderr"] as const;

/** Whether the host's side takes all of it. Bytes arrive in pieces. @throws what is no ProtocolError */
function takes({ FrameDecoder, HostSession, ProtocolError }: Channel, steps: readonly Step[], random: Random): boolean {
  const decoder = new FrameDecoder("guest");
  const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const host = new HostSession((bytes) => utf8.decode(bytes));
  try {
    for (const step of steps) {
      if ("guest" in step) {
        for (let at = 0; at < step.guest.length; ) {
          const piece = step.guest.subarray(at, at + 1 + random(step.guest.length));
          for (const frame of decoder.push(piece)) host.receive(frame);
          at += piece.length;
        }
      } else if (step.host === "open" || step.host === "create") host.open(step.host === "create");
      else if (step.host === "feed") host.spendStdin(step.stream, host.stdinLeft(step.stream));
      else {
        for (const each of CHANNELS) if (host.held(step.stream, each) > 0) host.release(step.stream, each, host.held(step.stream, each));
      }
    }
    return true;
  } catch (error) {
    if (error instanceof ProtocolError) return false;
    throw error;
  }
}

function rulesAllow(steps: readonly Step[]): boolean {
  const rules = new ChannelRules();
  return steps.every((step) => {
    if ("guest" in step) return rules.allows(step.guest);
    if (step.host === "open" || step.host === "create") rules.open(step.host === "create");
    else {
      const stream = rules.streams.get(step.stream);
      if (stream && step.host === "feed") stream.owed = 65_536;
      else if (stream) for (const each of CHANNELS) stream.used[each] = 0;
    }
    return true;
  });
}

/** Rounds until both differ; undefined: they never do. */
function differAfter(subject: Channel, rounds: number, seed: number): number | undefined {
  const random = randomFrom(seed);
  for (let round = 1; round <= rounds; round++) {
    let steps = session(random);
    for (let wrongs = random(3); wrongs > 0; wrongs--) steps = damaged(steps, random);
    try {
      if (takes(subject, steps, random) !== rulesAllow(steps)) return round;
    } catch {
      return round;
    }
  }
  return undefined;
}

/** The channel's code without one check. */
async function without(check: Check): Promise<Channel> {
  const directory = join(REPOSITORY, "src/runtime/isolation/channel");
  const change: Plugin = {
    name: "change",
    setup(of) {
      of.onLoad({ filter: /\/channel\/\w+\.ts$/ }, ({ path }) => {
        return { contents: withoutCheck(path, readFileSync(path, "utf8"), check), loader: "ts" };
      });
    },
  };
  const entryPoints = [join(directory, "index.ts")];
  const { outputFiles } = await build({ entryPoints, bundle: true, write: false, format: "esm", plugins: [change], logLevel: "silent" });
  return (await import(`data:text/javascript;base64,${Buffer.from(outputFiles[0]!.contents).toString("base64")}`)) as Channel;
}

describe("the host's side of a machine's channel", { timeout: PATIENCE_MS }, () => {
  it(`agrees with the rules ${ROUNDS} times`, () => {
    expect(differAfter(channel, ROUNDS, SEED)).toBeUndefined();
  });

  it("is tried with sessions that are allowed and with others", () => {
    const random = randomFrom(SEED);
    const verdicts = Array.from({ length: 200 }, () => rulesAllow(damaged(session(random), random)));
    expect(verdicts.filter(Boolean).length).toBeGreaterThan(20);
    expect(verdicts.filter((allowed) => !allowed).length).toBeGreaterThan(20);
  });

  it.each(CHECKS)("needs each check: %s.ts, %s", async (...check) => {
    expect(differAfter(await without(check), MUTANT_ROUNDS, SEED)).toBeDefined();
  });
});
