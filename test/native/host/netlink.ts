import * as host from "../../../src/runtime/host/index.ts";
import { findLink } from "../../../src/runtime/network/index.ts";
import { request } from "../../../src/runtime/network/request.ts";
import { equal, ok, type Test, throws } from "./harness.ts";

const namespace = () => host.readlink("/proc/self/ns/net");

/** struct nlmsghdr of this type and these flags, and a fixed part. */
const message = (type: number, flags: number, ...rest: number[]) => Uint32Array.of(0, type | (flags << 16), 0, 0, ...rest).buffer;

export const netlinkTests: readonly Test[] = [
  [
    "request: a device, and none",
    () => {
      const socket = host.netlinkOpen();
      equal(findLink(socket, "lo")?.name, "lo");
      equal(findLink(socket, findLink(socket, "lo")?.index ?? -1)?.hardwareAddress, [0, 0, 0, 0, 0, 0]);
      equal(findLink(socket, "no-such-device"), undefined);
      host.close(socket);
    },
  ],
  [
    "request: what is refused, and the next answer",
    () => {
      const socket = host.netlinkOpen();
      // RTM_GETLINK with NLM_F_REQUEST | NLM_F_ACK, of no device.
      throws("EINVAL", () => request(socket, message(18, 5, 0, 0, 0, 0)));
      throws("EBADF", () => request(200, message(18, 5)));
      throws("EBADF", () => host.netlinkReceive(200));
      // The next answer is that of the next request.
      equal(findLink(socket, "lo")?.name, "lo");
      host.close(socket);
    },
  ],
  [
    "netlinkReceive: only what the kernel has sent",
    () => {
      const socket = host.netlinkOpen();
      // RTM_GETLINK of lo. With the first packet the kernel gives the socket a port: the number of the process.
      const sequence = 4000;
      host.write(socket, Uint32Array.of(32, 18 | (1 << 16), sequence, 0, 0, 1, 0, 0).buffer);
      equal(new DataView(host.netlinkReceive(socket)).getUint16(4, true), 16, "type");
      const forge = (number: number) =>
        equal(
          host.runProgram(`${host.cwd()}/build/test/host/intruder`, ["intruder", String(host.getpid()), String(number)], [], "", -1).status,
          0,
        );
      forge(sequence + 1);
      host.write(socket, Uint32Array.of(32, 18 | (1 << 16), sequence + 1, 0, 0, 1, 0, 0).buffer);
      const answer = new DataView(host.netlinkReceive(socket));
      equal([answer.getUint16(4, true), answer.getUint32(8, true)], [16, sequence + 1], "type and sequence");
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
