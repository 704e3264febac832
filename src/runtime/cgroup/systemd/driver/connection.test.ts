import { describe, expect, test } from "vitest";
import type { Received } from "../../../../../test/support/bus-outgoing.ts";
import { fakeBus } from "../../../../../test/support/fake-bus.ts";
import { addMatch, BusError, openConnection } from "./connection.ts";

const CALL = { path: "/a", interface: "a.b", member: "Echo", signature: "s", values: ["x"] };
const echo = {
  answer: ({ member, values }: Pick<Received, "member" | "values">) => [
    member === "Echo" ? { reply: values, signature: "s" } : { reply: [] },
  ],
};

describe("opening", () => {
  test("directly: authentication by the socket's own credentials, and no name", () => {
    const bus = fakeBus(echo);
    openConnection(bus, true).requireAccess();
    expect(bus.lines).toEqual(["AUTH EXTERNAL", "DATA", "BEGIN"]);
    expect(bus.calls).toEqual([]);
  });

  test.each([true, false])("no answer is waited for before there is a call (direct: %s)", (direct) => {
    const bus = fakeBus(echo);
    openConnection(bus, direct);
    expect([bus.sent(), bus.now()]).toEqual([1, 0]);
  });

  test("a bus that gives no name", () => {
    const bus = fakeBus({ answer: () => [{ error: "a.b.Full", text: "no more names" }] });
    expect(() => openConnection(bus, false).call(CALL)).toThrow("no more names");
  });

  test("on a bus Hello comes first", () => {
    const bus = fakeBus({ answer: () => [{ reply: [":1.5"], signature: "s" }] });
    openConnection(bus, false);
    expect(bus.calls.map(({ member, message }) => [member, message.destination])).toEqual([["Hello", "org.freedesktop.DBus"]]);
    // With the authentication.
    expect(bus.sent()).toBe(1);
  });

  test.each([
    ["REJECTED ANONYMOUS\r\n", "authentication refused: REJECTED ANONYMOUS"],
    ["ERROR\r\n", "authentication refused: ERROR"],
    ["x".repeat(16_385), "no answer to the authentication"],
    ["DATA\r\n", "timed out"],
    ["", "the connection was closed"],
  ])("answered by %j it fails", (welcome, words) => {
    expect(() => openConnection(fakeBus({ ...echo, welcome }), true).requireAccess()).toThrow(words);
    expect(() => openConnection(fakeBus({ ...echo, welcome }), true).call(CALL)).toThrow(words);
    expect(() => openConnection(fakeBus({ ...echo, welcome }), false).call(CALL)).toThrow(words);
  });
});

describe("calls", () => {
  test("answers that come byte by byte", () => {
    const connection = openConnection(fakeBus({ ...echo, piece: 1, sender: ":1.0" }), true);
    expect(connection.call(CALL)).toEqual({ values: ["x"], sender: ":1.0" });
    expect(connection.call({ ...CALL, values: ["y"] }).values).toEqual(["y"]);
  });

  test("what belongs to nobody or to another call is passed over", () => {
    const bus = fakeBus({
      answer: (call) => [{ signal: "Noise", signature: "s", values: ["a"] }, ...echo.answer(call)],
    });
    const connection = openConnection(bus, true);
    connection.requireAccess();
    bus.later({ reply: ["stale"], signature: "s" });
    expect(connection.call(CALL).values).toEqual(["x"]);
  });

  test("several at once: one message after the other, each with its own answer", () => {
    const bad = { error: "a.b.Bad", text: "it is bad" };
    const bus = fakeBus({ answer: (call) => (call.values[0] === "b" ? [bad] : echo.answer(call)) });
    const connection = openConnection(bus, true);
    const before = bus.sent();
    const answers = connection.callAll(["a", "b", "c"].map((value) => ({ ...CALL, values: [value] })));
    expect(bus.sent() - before).toBe(1);
    expect(answers.map((answer) => (answer instanceof BusError ? answer.code : answer.values[0]))).toEqual(["a", "a.b.Bad", "c"]);
    expect(connection.callAll([])).toEqual([]);
  });

  test("an error has its name and its text", () => {
    const connection = openConnection(fakeBus({ answer: () => [{ error: "a.b.Bad", text: "it is bad" }] }), true);
    expect(() => connection.call(CALL)).toThrow(BusError);
    try {
      connection.call(CALL);
    } catch (error) {
      expect(error).toMatchObject({ code: "a.b.Bad", message: "it is bad" });
    }
  });

  test("no answer within the time", () => {
    const bus = fakeBus({ answer: () => [] });
    const connection = openConnection(bus, true);
    const start = bus.now();
    expect(() => connection.call(CALL)).toThrow("timed out");
    expect(bus.now() - start).toBeGreaterThanOrEqual(30_000);
    expect(bus.now() - start).toBeLessThan(30_100);
  });

  test("the end of the stream", () => {
    const connection = openConnection(fakeBus({ answer: () => [{ bytes: new Uint8Array(0) }] }), true);
    expect(() => connection.call(CALL)).toThrow("the connection was closed");
  });

  test("garbage is an error, not a hang", () => {
    const connection = openConnection(fakeBus({ answer: () => [{ bytes: new Uint8Array(16).fill(0x41) }] }), true);
    expect(() => connection.call(CALL)).toThrow("not a D-Bus message");
  });
});

describe("a peer that reads ahead while it authenticates", () => {
  const long = { ...CALL, values: ["x".repeat(400)] };

  test.each([
    ["a short call", [CALL]],
    ["a long one", [long]],
    ["several short ones", [CALL, CALL, CALL]],
    ["a short one behind a long one", [long, CALL]],
  ])("%s is answered at once", (_, calls) => {
    const bus = fakeBus({ ...echo, firstRead: 256 });
    const answers = openConnection(bus, true).callAll(calls);
    expect(answers.map((answer) => !(answer instanceof BusError) && answer.values)).toEqual(calls.map(({ values }) => values));
    expect(bus.now()).toBeLessThan(50);
    expect(bus.sent()).toBe(2);
  });

  test("more than sd-bus does: it is made to look", () => {
    const bus = fakeBus({ ...echo, firstRead: 4096 });
    expect(openConnection(bus, true).call(long).values).toEqual(long.values);
    expect(bus.calls.map(({ member }) => member)).toEqual(["Echo", "Ping"]);
    expect(bus.now()).toBeLessThan(200);
  });

  test("once, and not where it only takes its time", () => {
    const bus = fakeBus({ answer: () => [] });
    expect(() => openConnection(bus, true).call(long)).toThrow("timed out");
    expect(bus.calls.map(({ member }) => member)).toEqual(["Echo", "Ping"]);
    expect(bus.now()).toBeLessThan(30_300);
  });
});

describe("signals", () => {
  const noise = (text: string) => ({ signal: "Noise", signature: "s", values: [text] });

  test("one that came before it was waited for, and one that comes later", () => {
    const bus = fakeBus({ answer: (call) => [noise("early"), ...echo.answer(call)] });
    const connection = openConnection(bus, true);
    connection.call(CALL);
    expect(connection.awaitSignal(({ member }) => member === "Noise", 0)?.member).toBe("Noise");
    bus.later(noise("late"));
    expect(connection.awaitSignal(({ member }) => member === "Noise", 5)?.member).toBe("Noise");
  });

  test("the time limit holds however much else arrives", () => {
    const bus = fakeBus(echo);
    const connection = openConnection(bus, true);
    connection.requireAccess();
    for (let count = 0; count < 50; count++) bus.later(noise("x"));
    const start = bus.now();
    expect(connection.awaitSignal(() => false, 1_000)).toBeUndefined();
    expect(bus.now() - start).toBeLessThanOrEqual(1_100);
  });
});

test("a match rule is the bus' business", () => {
  const bus = fakeBus({ answer: () => [{ reply: [] }] });
  openConnection(bus, true).call(addMatch("type='signal'"));
  expect(bus.calls[0]).toMatchObject({ member: "AddMatch", values: ["type='signal'"], message: { destination: "org.freedesktop.DBus" } });
});
