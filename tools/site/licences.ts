/** The licences of the npm packages that the scripts of the site contain parts of. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const PACKAGE = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/;

/**
 * @param modules Paths of the bundled modules; what is not of a package is left out.
 * @returns A text with a part for each package.
 * @throws If a package has no licence.
 */
export function licencesOf(modules: Iterable<string>): string {
  const packages = [...modules].flatMap((id) => PACKAGE.exec(id.replace(/[\0?].*$/, ""))?.[0] ?? []);
  const parts = [...new Set(packages)].sort().map((directory) => {
    const { name, version, license } = JSON.parse(readFileSync(join(directory, "package.json"), "utf8")) as Record<string, string>;
    const file = readdirSync(directory).find((entry) => /^licen[sc]e(?:\.\w+)?$/i.test(entry));
    if (license === undefined || file === undefined || !existsSync(join(directory, file)))
      throw new Error(`site: ${directory} has no licence`);
    return `${name} ${version}\nLicence: ${license}\n\n${readFileSync(join(directory, file), "utf8").trim()}\n`;
  });
  return ["The scripts of this site contain parts of these packages of npm.\n", ...parts].join(`\n${"-".repeat(80)}\n\n`);
}
