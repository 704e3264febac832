import { expect, test } from "vitest";
import { busUse } from "./bus-sends.ts";

test("sends of the process that has connected and of its threads, on that descriptor, until it is closed", () => {
  const trace = `7 write(5, "before", 6) = 6
7 connect(5, {sa_family=AF_UNIX, sun_path="/run/systemd/private"}, 22) = 0
7 sendmsg(5, {msg_name=NULL}, MSG_NOSIGNAL) = 24
7 clone3({flags=CLONE_VM|CLONE_THREAD, exit_signal=0}, 88 <unfinished ...>
7 <... clone3 resumed>) = 8
8 write(5, "l", 1) = 1
7 clone(child_stack=NULL, flags=CLONE_NEWNS|SIGCHLD) = 9
9 write(5, "another process", 15) = 15
7 write(6, "another descriptor", 18) = 18
8 close(5) = 0
7 write(5, "after", 5) = 5
7 connect(4, {sa_family=AF_UNIX, sun_path="/run/dbus/system_bus_socket"}, 30) = 0
`;
  expect(busUse(trace)).toEqual({ connections: 2, sends: 2 });
});

test("a socket that is connected to by descriptor", () => {
  const trace = '7 connect(5, {sa_family=AF_UNIX, sun_path="/proc/self/fd/4"}, 110) = 0\n7 write(5, "x", 1) = 1\n';
  expect(busUse(trace)).toEqual({ connections: 1, sends: 1 });
});

test("other sockets are none", () => {
  expect(busUse('7 connect(5, {sa_family=AF_UNIX, sun_path="/run/notify"}, 22) = 0\n7 write(5, "x", 1) = 1\n')).toEqual({
    connections: 0,
    sends: 0,
  });
});
