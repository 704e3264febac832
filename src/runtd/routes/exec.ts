import { z } from "zod";
import { streamRoute } from "../http/route.ts";
import { inGroup, taskParams } from "../schemas/names.ts";
import { execOn } from "../streams/exec.ts";

export const execInTask = streamRoute({
  method: "get",
  path: "/v1/tasks/{name}/exec",
  operation: "execInTask",
  access: "admin",
  summary: "Run a further program in a container, on this connection",
  description:
    "Ask with `Connection: Upgrade` and `Upgrade: runtd-stream/1`. Then both sides send frames: a byte kind, four bytes length (highest first), content. " +
    "The client begins with 0 (JSON: StreamStart); then 1 bytes for stdin, 2 end of stdin, 3 size of the terminal (JSON: rows, columns), 4 name of a signal. The daemon " +
    "sends 16 when the program runs, 17 stdout, 18 stderr, and at the end 19 (JSON: exitCode) or, when it could not be started, 20 (JSON: code, message, " +
    "exitStatus). A client that goes away: the program gets SIGHUP, and after ten seconds SIGKILL with all that it has started.",
  params: taskParams,
  query: inGroup.extend({ container: z.string().optional().describe("Needed when the task has more than one.") }),
  answer: { status: 101, description: "The connection carries frames now" },
  errors: ["unknown-task", "unknown-container", "container-not-running", "upgrade-required", "too-many"],
  open({ engine, params: { name }, query: { group, container } }) {
    engine.running(name, group, container);
    return (stream) => execOn(stream, (request) => engine.spawn(name, group, container, request));
  },
});
