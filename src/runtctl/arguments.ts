/** The command line. */
import { parseArgs } from "node:util";

export interface Arguments {
  readonly command: string;
  /** What stands behind the command. */
  readonly names: readonly string[];
  readonly socket: string;
  readonly group: string;
  readonly file: string | undefined;
  readonly output: string | undefined;
  readonly container: string | undefined;
  readonly isFollowing: boolean;
  /** Lines; undefined: all. */
  readonly tail: number | undefined;
  readonly isWaiting: boolean;
}

/** Something is wrong with the command line: nothing was done. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

const DEFAULT_SOCKET = "/run/runtd/admin.sock";

/** -f is a file for some commands, and "follow" for logs. */
const FOLLOWS: ReadonlySet<string> = new Set(["logs"]);

/** undefined: help was asked for. @throws UsageError */
export function parseArguments(args: readonly string[], environment: NodeJS.ProcessEnv): Arguments | undefined {
  const { values, positionals } = parse(args);
  if (values.help) return undefined;
  const [command, ...names] = positionals;
  if (command === undefined) throw new UsageError("a command is missing");
  const tail = values.tail === undefined ? undefined : Number(values.tail);
  if (tail !== undefined && (!Number.isInteger(tail) || tail < 0)) throw new UsageError(`-n ${values.tail} is no number of lines`);
  return {
    command,
    names,
    socket: values.socket ?? environment["RUNTD_SOCKET"] ?? DEFAULT_SOCKET,
    group: values.project,
    file: values.file,
    output: values.output,
    container: values.container,
    isFollowing: values.follow,
    tail,
    isWaiting: !values["no-wait"],
  };
}

function parse(args: readonly string[]) {
  const isFollow = args.some((arg) => FOLLOWS.has(arg));
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        socket: { type: "string", short: "s" },
        project: { type: "string", short: "p", default: "default" },
        output: { type: "string", short: "o" },
        container: { type: "string", short: "c" },
        tail: { type: "string", short: "n" },
        "no-wait": { type: "boolean", default: false },
        help: { type: "boolean", short: "h", default: false },
        file: { type: "string", ...(isFollow ? {} : { short: "f" }) },
        follow: { type: "boolean", default: false, ...(isFollow ? { short: "f" } : {}) },
      },
    });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

/** The one name behind the command. @throws UsageError */
export function nameOf({ command, names }: Arguments): string {
  if (names.length !== 1) throw new UsageError(`${command} takes one name`);
  return names[0]!;
}
