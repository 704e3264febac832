import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

export interface DebianPackage {
  readonly name: string;
  readonly version: string;
  readonly architecture: string;
}

/** The Debian package that has installed a file, or of which it was unpacked (tools/debian-package.sh); undefined where there is none. */
export function debianPackage(file: string): DebianPackage | undefined {
  const owner = query(["-S", file])?.split(":")[0];
  const status = owner === undefined ? unpacked(file) : query(["-s", owner]);
  const fields = ["Package", "Version", "Architecture"].map((field) => new RegExp(`^${field}: (.+)$`, "m").exec(status ?? "")?.[1]);
  const [name, version, architecture] = fields;
  return name === undefined || version === undefined || architecture === undefined ? undefined : { name, version, architecture };
}

/** The fields of the package. */
function unpacked(file: string): string | undefined {
  const tree = /^(.+)\/usr\//.exec(file)?.[1];
  const control = tree === undefined ? "" : `${tree}/control`;
  return existsSync(control) ? readFileSync(control, "utf8") : undefined;
}

function query(words: readonly string[]): string | undefined {
  const { status, stdout } = spawnSync("dpkg-query", words, { encoding: "utf8" });
  return status === 0 ? stdout : undefined;
}
