/** Why a launch failed, as an error of the executor. */
import { ExecutorError, ProgramError, RuntimeError } from "../errors.ts";

/** A ProgramError stays what it is: it is the same for launch and exec. */
export function launchError(error: unknown): unknown {
  if (!(error instanceof RuntimeError) || error instanceof ProgramError) return error;
  return new ExecutorError("launch-failed", error.message, { code: error.code, pointer: error.pointer }, error);
}
