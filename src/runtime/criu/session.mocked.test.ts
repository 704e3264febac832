import { expect, it, vi } from "vitest";
import { converse } from "./session.ts";

/** What the socket to criu throws, by call. undefined: the call works. */
const refused: { write?: string; receive?: string } = {};
const closed: number[] = [];

const fail = (code: string | undefined) => {
  if (code !== undefined) throw Object.assign(new Error(code), { code });
};

vi.mock("../host/index.ts", () => ({
  WAIT: { NOHANG: 1 },
  socketpair: () => [3, 4],
  spawnPeer: () => 9,
  close: (fd: number) => closed.push(fd),
  write: () => fail(refused.write),
  receivePacket: () => fail(refused.receive),
  isErrno: (error: { code: string }, ...codes: string[]) => codes.includes(error.code),
  endWaitsBySignal: () => {},
  monotonic: () => 0,
  waitpid: () => ({}),
}));
vi.mock("./path.ts", () => ({ environment: () => [] }));

it.each([{ write: "EPIPE" }, { write: "ECONNRESET" }, { receive: "ECONNRESET" }, { write: "EPIPE", receive: "ECONNRESET" }, {}])(
  "a criu that ends before or after it is asked has ended without an answer: %o",
  (codes) => {
    Object.assign(refused, { write: undefined, receive: undefined }, codes);
    closed.splice(0);
    expect(() => converse("/bin/criu", { request: () => new Uint8Array(1) })).toThrow("criu has ended without an answer");
    expect(closed).toEqual([4, 3]);
  },
);

it("any other error of the socket is thrown as it is", () => {
  Object.assign(refused, { write: "EBADF", receive: undefined });
  expect(() => converse("/bin/criu", { request: () => new Uint8Array(1) })).toThrow("EBADF");
});
