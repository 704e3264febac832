/**
 * The host's side of a machine's channel against the rules, written a second time: whatever a guest says, both agree whether it may. And each check of
 * the host's side is needed: without it they differ.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { build, type Plugin } from "esbuild";
import { describe, expect, it } from "vitest";
import * as channel from "../../src/runtime/machine/channel/index.ts";
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

/** A check of the host's side: a piece of its text, and what it is instead. Those are left out that another one repeats. */
const CHECKS: readonly (readonly [file: string, check: string, without: string])[] = [
  ["frame", "if (name === undefined)", "if (false)"],
  ["frame", "if (length > most || ", "if ("],
  ["frame", " || length < fewest", ""],
  ["frame", "view.getUint8(5) !== 0 || ", ""],
  ["frame", " || view.getUint16(6) !== 0", ""],
  ["session", "!this.#greeted || found === undefined", "found === undefined"],
  ["session", "!this.#greeted || found === undefined", "!this.#greeted"],
  ["session", "if (!found.awaited)", "if (false)"],
  ["session", "found.awaited = false;", ""],
  ["session", "if (found.awaited)", "if (false)"],
  ["session", "if (found.started) throw new ProtocolError(`stream", "if (false) throw new ProtocolError(`stream"],
  ["session", "if (!found.started)", "if (false)"],
  ["session", 'case "failed":\n        if (found.started)', 'case "failed":\n        if (false)'],
  ["session", "this.#greeted || stream !== 0", "stream !== 0"],
  ["session", "this.#greeted || stream !== 0", "this.#greeted"],
  ["session", 'if (channel !== "stdin")', "if (false)"],
  ["session", "found[name].arrive(payload.length);", ""],
  ["session", "stdin.grant(bytes);", ""],
  ["session", 'this.#streams.delete(stream);\n        return { what: "ended"', 'return { what: "ended"'],
  ["session", 'this.#streams.delete(stream);\n        return { what: "failed"', 'return { what: "failed"'],
  ["account", "bytes === 0 || this.#left", "this.#left"],
  ["account", " || this.#left + bytes > WINDOW", ""],
  ["account", "this.#held + bytes > WINDOW", "false"],
  ["messages", 'typeof version !== "string" || ', ""],
  ["messages", ' || typeof commit !== "string"', ""],
  ["messages", 'typeof message !== "string" ||', ""],
  ["messages", 'typeof shown !== "boolean" ||', ""],
  ["messages", "!Number.isInteger(status) ||", ""],
  ["messages", "(status as number) < 1 ||", ""],
  ["messages", "(status as number) > 255", "false"],
];

/** The channel's code without one check. */
async function without(file: string, check: string, replacement: string): Promise<Channel> {
  const directory = join(REPOSITORY, "src/runtime/machine/channel");
  const change: Plugin = {
    name: "change",
    setup(of) {
      of.onLoad({ filter: new RegExp(`/channel/${file}\\.ts$`) }, ({ path }) => {
        const text = readFileSync(path, "utf8");
        if (!text.includes(check)) throw new Error(`${file}.ts has no "${check}"`);
        return { contents: text.replace(check, () => replacement), loader: "ts" };
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

  it.each(CHECKS)("needs each check: %s.ts, %s", async (file, check, replacement) => {
    expect(differAfter(await without(file, check, replacement), MUTANT_ROUNDS, SEED)).toBeDefined();
  });
});
