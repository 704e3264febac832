import { z } from "zod";
import { streamRoute } from "../http/route.ts";
import { inGroup, taskParams } from "../schemas/names.ts";
import { attachOn } from "../streams/attach.ts";

export const attachToTask = streamRoute({
  method: "get",
  path: "/v1/tasks/{name}/attach",
  operation: "attachToTask",
  access: "admin",
  summary: "The streams of a container that runs, on this connection",
  description:
    "Ask with `Connection: Upgrade` and `Upgrade: runtd-stream/1`. Then frames go as for `execInTask`, without a first one of the client. The daemon sends 16, then what the container prints from " +
    "now on (17, 18), and 19 at its end. The client sends 1 (bytes for stdin) and 3 (size of the terminal); 2 is the end of stdin for a container with `stdin: once`, and says nothing to any other. A client that goes away " +
    "leaves the container as it is.",
  params: taskParams,
  query: inGroup.extend({
    container: z.string().optional().describe("Needed when the task has more than one."),
    stdin: z
      .enum(["true", "false"])
      .default("false")
      .describe("true: something comes for stdin, which the container needs `stdin` or `tty` for."),
  }),
  answer: { status: 101, description: "The connection carries frames now" },
  errors: ["unknown-task", "unknown-container", "container-not-running", "no-stdin", "no-log", "upgrade-required", "too-many"],
  open({ engine, params: { name }, query: { group, container, stdin } }) {
    const options = { stdin: stdin === "true" };
    engine.attachable(name, group, container, options);
    return (stream) => attachOn(stream, () => engine.attach(name, group, container, options));
  },
});
