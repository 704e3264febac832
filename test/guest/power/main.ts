/**
 * In the guest, once in each boot: look whether everything is as it was seen before the power was cut, then work until it is cut again. After
 * RUNT_TEST_CUTS cuts the report is written, and the boot ends in order. Every fourth cut comes while the daemon recovers from the one before.
 *
 * Usage: tsx test/guest/power/main.ts --json REPORT
 */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { answered, tasks, UNIT } from "../service.ts";
import { CHECKS } from "./checks.ts";
import { READY_TO_BE_CUT } from "./cut.ts";
import { isServer, remove, startServers, work } from "./load.ts";
import { bootId, installUnit, lookAtStore, mountDisk, tellOutside, WITNESS } from "./place.ts";
import { Witness } from "./witness.ts";

const CUTS = Number(process.env["RUNT_TEST_CUTS"] ?? 2);
const EVERY = 4;

const { values } = parseArgs({ options: { json: { type: "string" } } });
installUnit();
mountDisk();
const witness = new Witness(WITNESS);
const cuts = witness.of("boot").length;
witness.tell({ what: "boot", bootId });
const isLast = cuts === CUTS;

/** Ends the program when it is wrong: the report says which. */
function check(name: string, wrong: string | null): void {
  console.log(`${name}: ${wrong ?? "as it should be"}`);
  witness.tell({ what: "checked", check: `after cut ${cuts}: ${name}`, wrong });
  if (wrong !== null) report();
}

function report(): never {
  const checked = witness.of("checked").map(({ check: name, wrong }) => [name, { result: wrong === null ? "passed" : "failed" }]);
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify({ runt: Object.fromEntries(checked) }, null, 1)}\n`);
  const count = (what: "applied" | "succeeded" | "deleted") => `${witness.names(what).size} ${what}`;
  const failed = witness.of("checked").filter(({ wrong }) => wrong !== null);
  tellOutside(
    `${cuts} cuts; ${count("applied")}, ${count("succeeded")}, ${count("deleted")}; ${checked.length} checks, ${failed.length} failed`,
  );
  process.exit(failed.length === 0 && isLast ? 0 : 1);
}

check("SQLite finds nothing wrong with its file", ((text) => (text === "ok" ? null : text))(lookAtStore()));
execFileSync("systemctl", ["start", "--no-block", UNIT]);
if (!isLast && cuts % EVERY === EVERY - 1) tellOutside(READY_TO_BE_CUT);
await answered();
for (const [name, holds] of Object.entries(cuts === 0 ? {} : CHECKS))
  check(name, await holds(witness).catch((error: Error) => error.message));
if (isLast) report();
// What has been looked at goes, so that the next look is not longer.
for (const { name, known } of await tasks()) if (!isServer(name) && known === "STOPPED") await remove(witness, name);
await startServers(witness, cuts);
tellOutside(READY_TO_BE_CUT);
await work(witness, cuts);
