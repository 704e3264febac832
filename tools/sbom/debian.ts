import { spawnSync } from "node:child_process";

export interface DebianPackage {
  readonly name: string;
  readonly version: string;
  readonly architecture: string;
}

/** The Debian package that has installed a file; undefined where there is none. */
export function debianPackage(file: string): DebianPackage | undefined {
  const owner = query(["-S", file])?.split(":")[0];
  const status = owner === undefined ? undefined : query(["-s", owner]);
  const [version, architecture] = ["Version", "Architecture"].map((field) => new RegExp(`^${field}: (.+)$`, "m").exec(status ?? "")?.[1]);
  return owner === undefined || version === undefined || architecture === undefined ? undefined : { name: owner, version, architecture };
}

function query(words: readonly string[]): string | undefined {
  const { status, stdout } = spawnSync("dpkg-query", words, { encoding: "utf8" });
  return status === 0 ? stdout : undefined;
}
