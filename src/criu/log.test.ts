import { expect, it } from "vitest";
import { firstError } from "./log.ts";

it.each([
  ["(00.000027) Version: 3.17.1\n(00.1) Error (criu/vdso.c:381): vdso: no bounds\n(00.2) Error (criu/x.c:1): later\n", "vdso: no bounds"],
  ["(00.012345)      1: Error (criu/mount.c:3247): mnt: No mapping for 12\n", "mnt: No mapping for 12"],
  ["Error (criu/crtools.c:260): early\n", "early"],
  ["(00.1) Warn  (criu/x.c:1): Error nowhere\n", undefined],
  ["", undefined],
])("%j", (log, expected) => expect(firstError(log)).toBe(expected));
