/** runt with a criu that only speaks its protocol (test/probe/fake-criu.c) and records the requests. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect } from "vitest";
import { decodeMessage, type Fields, messageOf, numberOf, textOf } from "../../src/runtime/criu/protobuf.ts";
import type { Harness, Result } from "./harness.ts";
import { program } from "./programs.ts";

/** Types of requests. */
export const TYPE = { dump: 1, restore: 2, preDump: 4, featureCheck: 9 };
/** Fields of criu_opts. */
export const FIELD = { externalMounts: 23, cgroupRoots: 25, inherit: 27, external: 37 };

type Environment = Readonly<Record<string, string>>;

export interface FakeCriu {
  /** The directory of this test's requests. */
  talk(): string;
  /** A directory of this test's, not made yet. */
  images(): string;
  /** The environment that fake-criu needs. */
  environment(env?: Environment): { readonly env: Environment };
  runtime(args: readonly string[], env?: Environment): Promise<Result>;
  /** The same, expecting success without a word on stderr. Returns stdout. */
  ok(args: readonly string[], env?: Environment): Promise<string>;
  /** Every request but the one for the version. */
  requests(): { type: number; options: Fields }[];
  /** Make the files of a checkpoint that runt reads. */
  image(streams?: readonly string[]): void;
}

/** Registers a hook: to be called inside `describe`, after useHarness. */
export function useFakeCriu(harness: Harness): FakeCriu {
  let count = 0;
  const talk = () => join(harness.directory, `talk-${count}`);
  const images = () => join(harness.directory, `images-${count}`);
  const environment = (env: Environment = {}) => ({ env: { FAKE_CRIU: talk(), ...env } });
  const runtime = (args: readonly string[], env?: Environment) =>
    harness.runtime(["--criu", program("fake-criu"), ...args], environment(env));

  beforeEach(() => {
    count++;
    mkdirSync(talk());
  });

  return {
    talk,
    images,
    environment,
    runtime,
    async ok(args, env) {
      const result = await runtime(args, env);
      expect({ args, ...result }).toMatchObject({ status: 0, stderr: "" });
      return result.stdout;
    },
    requests() {
      return readdirSync(talk())
        .filter((name) => name.startsWith("request-"))
        .map((name) => decodeMessage(readFileSync(join(talk(), name))))
        .map((request) => ({ type: numberOf(request, 1) ?? 0, options: messageOf(request, 2) ?? new Map() }));
    },
    image(streams = ["/dev/null", "pipe:[11]", "pipe:[12]"]) {
      mkdirSync(images(), { recursive: true });
      writeFileSync(join(images(), "descriptors.json"), JSON.stringify(streams));
    },
  };
}

/** A repeated field of two texts each. */
export function pairs(options: Fields, field: number): (string | undefined)[][] {
  return (options.get(field) ?? []).map((value) => decodeMessage(value as Uint8Array)).map((pair) => [textOf(pair, 1), textOf(pair, 2)]);
}

/** A repeated field of texts. */
export function texts(options: Fields, field: number): string[] {
  return (options.get(field) ?? []).map((value) => Buffer.from(value as Uint8Array).toString());
}
