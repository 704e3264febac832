/** The client as a program of Node. */
import { readFileSync } from "node:fs";
import { command } from "./command.ts";

const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as { version: string };

// No await, because the bundle is no ES module (tools/bundle-client.ts).
void command(process.argv.slice(2), version).then((status) => {
  process.exitCode = status;
});
