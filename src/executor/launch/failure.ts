/** Why a launch failed, in the words of the executor. */
import { ExecutorError, RuntimeError } from "../errors.ts";

/** A shell's exit statuses for what could not be executed. */
export const NOT_FOUND = 127;
export const NOT_EXECUTABLE = 126;

export function launchError(error: unknown): unknown {
  if (!(error instanceof RuntimeError)) return error;
  const details = { code: error.code, pointer: error.pointer };
  const isProgram = error.pointer?.startsWith("/process/args") || /^exec |exec:/.test(error.message);
  if (/executable file not found in \$PATH|no such file or directory/.test(error.message) && isProgram) {
    return new ExecutorError("program-not-found", error.message, { ...details, exitCode: NOT_FOUND }, error);
  }
  if (/permission denied|exec format error|is a directory/.test(error.message) && isProgram) {
    return new ExecutorError("program-not-executable", error.message, { ...details, exitCode: NOT_EXECUTABLE }, error);
  }
  return new ExecutorError("launch-failed", error.message, details, error);
}
