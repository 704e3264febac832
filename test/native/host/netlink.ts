import * as host from "../../../src/runtime/host/index.ts";
import { findLink } from "../../../src/runtime/network/index.ts";
import { equal, ok, type Test, throws } from "./harness.ts";

const namespace = () => host.readlink("/proc/self/ns/net");

/** struct nlmsghdr of this type and these flags, and a fixed part. */
const message = (type: number, flags: number, ...rest: number[]) => Uint32Array.of(0, type | (flags << 16), 0, 0, ...rest).buffer;

export const netlinkTests: readonly Test[] = [
  [
    "netlinkRequest: a device, and none",
    () => {
      const socket = host.netlinkOpen();
      equal(findLink(socket, "lo")?.name, "lo");
      equal(findLink(socket, findLink(socket, "lo")?.index ?? -1)?.hardwareAddress, [0, 0, 0, 0, 0, 0]);
      equal(findLink(socket, "no-such-device"), undefined);
      host.close(socket);
    },
  ],
  [
    "netlinkRequest: what is refused",
    () => {
      const socket = host.netlinkOpen();
      // RTM_GETLINK with NLM_F_REQUEST | NLM_F_ACK, of no device.
      throws("EINVAL", () => host.netlinkRequest(socket, message(18, 5, 0, 0, 0, 0)));
      throws("RangeError", () => host.netlinkRequest(socket, Uint32Array.of(0).buffer));
      throws("TypeError", () => host.netlinkRequest(socket, "text" as unknown as ArrayBuffer));
      throws("EBADF", () => host.netlinkRequest(200, message(18, 5)));
      // The next answer is that of the next request.
      equal(findLink(socket, "lo")?.name, "lo");
      host.close(socket);
    },
  ],
  [
    "netlinkOpen in a namespace, and back",
    () => {
      const before = namespace();
      const here = host.open("/proc/self/ns/net", host.O.RDONLY);
      const socket = host.netlinkOpen(here);
      equal(findLink(socket, "lo")?.name, "lo");
      const other = host.open("/proc/self/ns/uts", host.O.RDONLY);
      throws("EINVAL", () => host.netlinkOpen(other));
      throws("EBADF", () => host.netlinkOpen(200));
      for (const fd of [here, socket, other]) host.close(fd);
      equal(namespace(), before);
      ok(host.readdir("/proc/self/fd").length < 12, "descriptors leak");
    },
  ],
];
