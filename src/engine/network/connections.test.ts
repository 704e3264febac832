import { expect, test } from "vitest";
import { countIn, unacceptedIn } from "./connections.ts";

const HEAD = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n";
const line = (local: string, remote: string, state: string, queue = "00000000") =>
  `   0: ${local} ${remote} ${state} 00000000:${queue} 00:00000000 00000000     0        0 1 1\n`;

test("R8 connections to the ports of a service that have not ended are counted, and those by loopback are not", () => {
  const text =
    HEAD +
    line("00000000:1F90", "00000000:0000", "0A") +
    line("0200400A:1F90", "0100400A:C000", "01") +
    line("0200400A:1F90", "0100400A:C001", "08") +
    line("0200400A:1F90", "0100400A:C002", "06") +
    line("0200400A:1F91", "0100400A:C003", "01") +
    line("0100007F:1F90", "0100007F:C004", "01") +
    HEAD +
    line("0000000000000000FFFF00000200400A:1F90", "0000000000000000FFFF00000100400A:C005", "01") +
    line("0000000000000000FFFF00000100007F:1F90", "0000000000000000FFFF00000100007F:C006", "01");
  expect(countIn(text, new Set([8080]))).toBe(3);
  expect(countIn(text, new Set([8081]))).toBe(1);
  expect(countIn("", new Set([8080]))).toBe(0);
});

test("R8 connections that the program has not accepted are those in the queues of its listening sockets, and those that are being opened", () => {
  const text =
    HEAD +
    line("00000000:1F90", "00000000:0000", "0A", "0000000B") +
    line("00000000:1F91", "00000000:0000", "0A", "00000007") +
    // Of an accepted connection these are bytes.
    line("0200400A:1F90", "0100400A:C000", "01", "00000064") +
    line("0200400A:1F90", "0100400A:C001", "03") +
    line("0100007F:1F90", "0100007F:C002", "03") +
    HEAD +
    line("00000000000000000000000000000000:1F90", "00000000000000000000000000000000:0000", "0A", "00000002");
  expect(unacceptedIn(text, new Set([8080]))).toBe(14);
  expect(unacceptedIn(text, new Set([8081]))).toBe(7);
  expect([unacceptedIn(text, new Set([8082])), unacceptedIn("", new Set([8080]))]).toEqual([0, 0]);
});
