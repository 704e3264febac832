import type { ForwardOptions } from "../on-node/port-forward.ts";
import { onNode } from "../platform/index.ts";
import { verb } from "../verb.ts";

export const portForward = verb<ForwardOptions>({
  name: "port-forward",
  summary: "forward ports of this host to ports in the network of a task",
  description: [
    "Each connection to a local port begins anew in the network of the task, on its loopback: also where the task has no port of the host, and no way out. Only TCP.",
    "It runs until ^C, SIGTERM, or the end of the daemon. A connection that cannot be made is told on stderr, and the others go on.",
  ],
  examples: [
    ["port-forward web 8080:80", "localhost:8080 is port 80 of the task web"],
    ["port-forward web :80", "a free local port, which is printed"],
  ],
  define: (command) =>
    command
      .argument("<name>", "of a task")
      .argument("<port...>", "PORT, LOCAL:PORT, or :PORT for a free one")
      .option("--address <address>", "address of this host to listen on", "127.0.0.1")
      .option("-c, --container <name>", "container whose network is used, if each has its own"),
  async run(session, [name = "", ...ports], options) {
    const { forwardPorts } = await onNode(() => import("../on-node/port-forward.ts"));
    return forwardPorts(session, name, ports, options);
  },
});
