import { expect, test } from "vitest";
import { RuntError } from "../../../errors/index.ts";
import { annotationProperties } from "./annotations.ts";
import { printProperty } from "./property.ts";

const compile = (annotations: Record<string, string>) => annotationProperties(annotations).map(printProperty);
const one = (name: string, value: string) => compile({ [`org.systemd.property.${name}`]: value });

test("sorted, and nothing else", () => {
  expect(
    compile({
      "org.systemd.property.KillSignal": "uint32 9",
      "org.systemd.property.After": "['a.service']",
      "org.systemd.propertyX": "1",
      "org.opencontainers.x": "not GVariant",
    }),
  ).toEqual(["After=@as ['a.service']", "KillSignal=uint32 9"]);
});

test.each([
  ["TimeoutStopSec", "7", "TimeoutStopUSec=uint64 7000000"],
  ["TimeoutStopSec", "uint64 7", "TimeoutStopUSec=uint64 7000000"],
  ["TimeoutStopSec", "1.5", "TimeoutStopUSec=uint64 1500000"],
  ["TimeoutStopUSec", "uint64 7", "TimeoutStopUSec=uint64 7"],
  ["RuntimeMaxSec", "byte 1", "RuntimeMaxUSec=uint64 1000000"],
  // Not behind a lower-case letter: no unit of time.
  ["FooUSec", "5", "FooUSec=5"],
])("%s=%s", (name, value, expected) => {
  expect(one(name, value)).toEqual([expected]);
});

test.each([
  ["Ab", "1", "three or more ASCII letters"],
  ["", "1", "three or more ASCII letters"],
  ["A-b-c", "1", "three or more ASCII letters"],
  ["Größe", "1", "three or more ASCII letters"],
  ["Foo", "bar", '"bar" is not a GVariant value'],
  ["Foo", "", "is not a GVariant value: ends too early"],
  ["FooSec", "'5'", "seconds are a number"],
  ["FooSec", "-1", "seconds out of range"],
  ["FooSec", "inf", "seconds out of range"],
  ["FooSec", "nan", "seconds out of range"],
  ["FooSec", "uint64 18446744073709551615", "seconds out of range"],
])("%s=%s is refused", (name, value, words) => {
  expect(() => one(name, value)).toThrow(words);
});

test("the error points at the annotation", () => {
  try {
    one("Foo/~", "1");
    expect.unreachable();
  } catch (error) {
    expect((error as RuntError).details.pointer).toBe("/annotations/org.systemd.property.Foo~1~0");
    expect(error).toBeInstanceOf(RuntError);
  }
});
