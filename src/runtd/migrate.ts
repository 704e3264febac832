/** `runtd migrate --to VERSION`: converts the store for an older program, or back. */
import { parseArgs } from "node:util";
import { migrateStore } from "../engine/index.ts";
import { STATE_DIR } from "./config.ts";

export interface MigrateOptions {
  readonly stateDir: string;
  readonly to: number;
}

/** Parses the arguments after `migrate`. @throws Error: the arguments are wrong */
export function migrateOptionsOf(args: readonly string[]): MigrateOptions {
  const { values } = parseArgs({
    args: [...args],
    options: { to: { type: "string" }, "state-dir": { type: "string", default: STATE_DIR } },
  });
  if (values.to === undefined) throw new Error("migrate needs --to VERSION");
  if (!/^[1-9]\d{0,5}$/.test(values.to)) throw new Error(`to: ${values.to} is no version`);
  return { stateDir: values["state-dir"], to: Number(values.to) };
}

/** Returns a line for the user that says what was done. @throws StoreError, as migrateStore */
export function runMigrate({ stateDir, to }: MigrateOptions): string {
  const { path, from, copy } = migrateStore(stateDir, to);
  return copy === undefined ? `${path} is of version ${to}` : `${path}: from version ${from} to ${to}; what was there before is in ${copy}`;
}
