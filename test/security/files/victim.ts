/** What an attack through the root filesystem is after: a directory outside, with a secret to read and things to change. */
import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Subject } from "../subject.ts";

export const SECRET = "the secret of the host";

export interface Victim {
  readonly directory: string;
  /** What has become different since it was made; "" if nothing. */
  changes(): string;
}

/** Contains `secret`, `below/secret`, and the names a runtime is likely to make or replace. */
export function victimOf(subject: Subject): Victim {
  const directory = subject.scratch("victim");
  mkdirSync(join(directory, "below"));
  for (const name of ["secret", "below/secret", "ptmx"]) writeFileSync(join(directory, name), `${SECRET}\n`);
  const before = describe(directory);
  return {
    directory,
    changes() {
      const after = describe(directory);
      const gone = before.filter((line) => !after.includes(line)).map((line) => `no longer ${line}`);
      return [...after.filter((line) => !before.includes(line)), ...gone].join("; ");
    },
  };
}

/** One line for each file: name, type and mode, owner, content. */
function describe(directory: string, prefix = ""): string[] {
  return readdirSync(directory)
    .sort()
    .flatMap((name) => {
      const path = join(directory, name);
      const info = lstatSync(path);
      const text = info.isSymbolicLink() ? readlinkSync(path) : info.isFile() ? readFileSync(path, "utf8") : "";
      const line = `${prefix}${name} ${info.mode.toString(8)} ${info.uid}:${info.gid} ${info.rdev} ${JSON.stringify(text)}`;
      return [line, ...(info.isDirectory() ? describe(path, `${prefix}${name}/`) : [])];
    });
}
