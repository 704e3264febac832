/** A bundle is compiled for a container that is to be made now. */
import { refuseExisting } from "../state/index.ts";
import { type Compiled, compileBundle } from "./compile.ts";
import { compileExpected } from "./expect-plan.ts";
import type { CreateOptions, RuntimeOptions } from "./options.ts";
import { checkTerminal, requireOwnTerminal } from "./terminal.ts";

/** A compiled bundle with what the caller has said of the container (Blueprint of src/runtime/execute). */
export interface CompiledContainer extends Compiled {
  readonly id: string;
  readonly bundle: string;
  readonly keyring: boolean;
  /** When the caller expects one. */
  readonly digest?: string;
}

/** @throws RuntError, also where the container cannot have the terminal, or the id, that it is to have */
export function compileFor(options: RuntimeOptions, request: CreateOptions): CompiledContainer {
  const compiled =
    request.expectPlan === undefined ? compileBundle(options, request) : compileExpected(options, request, request.expectPlan);
  checkTerminal(compiled.config, request);
  if (compiled.config.process?.terminal && request.consoleSocket === undefined && !request.unattended) {
    requireOwnTerminal("process.terminal", { pointer: "/process/terminal" });
  }
  refuseExisting(options.root, request.id);
  return { ...compiled, id: request.id, bundle: request.bundle, keyring: !request.noNewKeyring };
}
