import * as host from "../../../src/host/index.ts";
import { equal, ok, type Test, throws } from "./harness.ts";

const PATIENCE_MS = 20;

export const streamTests: readonly Test[] = [
  ["connect to nobody", () => throws("ENOENT", () => host.connect("/nonexistent/socket"))],
  ["connect to what is no socket", () => throws("ECONNREFUSED", () => host.connect("/proc/self/exe"))],
  ["connect to an abstract socket that is not there", () => throws("ECONNREFUSED", () => host.connect("@runt-test-nobody"))],
  ["an abstract name that is too long", () => throws("ENAMETOOLONG", () => host.connect(`@${"x".repeat(108)}`))],
  [
    "receive: nothing yet, something, the end",
    () => {
      const [ours, theirs] = host.socketpair();
      throws("ETIMEDOUT", () => host.receive(ours, PATIENCE_MS));
      host.sendMessage(theirs, 7);
      equal([...new Uint8Array(host.receive(ours, PATIENCE_MS))].slice(0, 4), [7, 0, 0, 0]);
      host.close(theirs);
      equal(host.receive(ours, PATIENCE_MS).byteLength, 0);
      host.close(ours);
    },
  ],
  ["receive from what is no socket", () => throws("ENOTSOCK", () => host.receive(host.open("/dev/null", host.O.RDONLY), 0))],
  [
    "monotonic",
    () => {
      const before = host.monotonic();
      host.sleep(PATIENCE_MS);
      const passed = host.monotonic() - before;
      ok(passed >= PATIENCE_MS && passed < 10_000, `${passed} ms have passed`);
    },
  ],
];
