/** Another process than the launcher that waits for an executor: STATEDIR ID. Prints the final state as JSON. */
import { Executor } from "../../../src/executor/index.ts";

const [stateDir = "", id = ""] = process.argv.slice(2);
const executor = await Executor.adopt({ stateDir, id });
console.log(JSON.stringify(await executor.wait()));
