/** Which criu there is, and whether it can do what is asked. */
import { RuntError } from "../errors/index.ts";
import { encodeFeatureCheck, encodeRequest, type Features, REQUEST } from "./messages.ts";
import { findProgram } from "./path.ts";
import { converse } from "./session.ts";

const NAME = "criu";
/** The first with all that every request has. */
const OLDEST = [3, 0, 0] as const;

/** `given` is a path, or a name to look for in PATH. undefined: it is not there. */
export function findCriu(given = NAME): string | undefined {
  return findProgram(given);
}

/** @throws RuntError "criu" when it is absent or older than `least` */
export function requireCriu(given: string | undefined, least: readonly [number, number, number] = OLDEST): string {
  const criu = findCriu(given);
  if (criu === undefined) {
    throw new RuntError("criu", `checkpoint and restore need criu: ${given ?? NAME}: not found`, {
      hint: given === undefined ? "install the package criu, or name the program with --criu" : "--criu names no program",
    });
  }
  const { version } = converse(criu, { request: () => encodeRequest(REQUEST.version) });
  if (version === undefined) throw new RuntError("criu", `${criu} does not tell its version`);
  if (compare(version, least) < 0) {
    throw new RuntError("criu", `${criu} is version ${version.join(".")}, and ${least.join(".")} or newer is needed`);
  }
  return criu;
}

function compare(a: readonly number[], b: readonly number[]): number {
  const index = a.findIndex((number, at) => number !== b[at]);
  return index === -1 ? 0 : a[index]! - b[index]!;
}

/** It looks at the kernel before it answers, as before any work. @throws RuntError "criu" when it ends without an answer */
export function answersFeatures(criu: string): boolean {
  return converse(criu, { request: () => encodeFeatureCheck({ trackMemory: true, lazyPages: false }), quiet: true }).success;
}

/** @throws RuntError "criu" when criu or this kernel cannot do one of them */
export function requireFeatures(criu: string, wanted: Features): void {
  if (!wanted.trackMemory && !wanted.lazyPages) return;
  const { features, success } = converse(criu, { request: () => encodeFeatureCheck(wanted) });
  if (wanted.trackMemory && !(success && features?.trackMemory)) {
    throw new RuntError("criu", "--pre-dump: criu or this kernel cannot track changes of memory");
  }
  if (wanted.lazyPages && !(success && features?.lazyPages)) {
    throw new RuntError("criu", "--lazy-pages: criu or this kernel cannot fetch memory later");
  }
}
