/** Versions: of this library, and of what executors leave on disk for other processes. */
import { ExecutorError } from "./errors.ts";

/** The package's, which a test holds against package.json. */
export const LIBRARY_VERSION = "0.1.0";

/** Version of executor.json. A larger major number means that this library would do something wrong with it. */
export interface Protocol {
  readonly major: number;
  readonly minor: number;
}

export const PROTOCOL: Protocol = { major: 1, minor: 2 };

/** @throws ExecutorError protocol, for a newer major number */
export function checkProtocol({ major, minor }: Protocol, path: string): void {
  if (major > PROTOCOL.major) {
    throw new ExecutorError("protocol", `${path}: protocol ${major}.${minor} is newer than ${PROTOCOL.major}.${PROTOCOL.minor}`, {
      major,
      minor,
    });
  }
}
