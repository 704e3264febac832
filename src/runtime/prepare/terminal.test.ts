import { expect, it } from "vitest";
import { deriveConfig } from "../config/index.ts";
import type { CreateOptions } from "./options.ts";
import { checkTerminal } from "./terminal.ts";

function check(terminal: boolean, request: Pick<CreateOptions, "mode" | "detach" | "consoleSocket">): void {
  const process = { cwd: "/", args: ["sh"], terminal };
  const config = deriveConfig({ ociVersion: "1.3.0", root: { path: "rootfs" }, process }, { bundle: "/bundle" });
  checkTerminal(config, { id: "c", bundle: "/bundle", noPivot: false, noNewKeyring: false, preserveFds: 0, ...request });
}

it("refuses a terminal without anybody to give it to, and a socket without a terminal", () => {
  const refusal = expect.objectContaining({ code: "usage", details: { pointer: "/process/terminal" } });
  expect(() => check(true, { mode: "create", detach: false })).toThrow(refusal);
  expect(() => check(true, { mode: "run", detach: true })).toThrow(refusal);
  expect(() => check(false, { mode: "create", detach: false, consoleSocket: "/s" })).toThrow(refusal);
  expect(() => check(true, { mode: "run", detach: false, consoleSocket: "/s" })).toThrow(refusal);
});

it("accepts the two together, and a foreground run's own terminal", () => {
  check(true, { mode: "create", detach: false, consoleSocket: "/s" });
  check(true, { mode: "run", detach: true, consoleSocket: "/s" });
  check(true, { mode: "run", detach: false });
  check(false, { mode: "create", detach: false });
});
