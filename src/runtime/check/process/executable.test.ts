import { expect, it } from "vitest";
import { describeOther, parseFirstLine } from "./executable.ts";

it.each([
  ["#!/bin/sh\necho", { interpreter: "/bin/sh", carriageReturn: false }],
  ["#! \t/bin/sh -e\n", { interpreter: "/bin/sh", carriageReturn: false }],
  ["#!/bin/sh\r\necho\r\n", { interpreter: "/bin/sh", carriageReturn: true }],
  ["#!/usr/bin/env sh\r\n", { interpreter: "/usr/bin/env", carriageReturn: true }],
  ["#!/bin/sh", { interpreter: "/bin/sh", carriageReturn: false }],
  ["#!\n", { interpreter: "", carriageReturn: false }],
  ["#!   \n", { interpreter: "", carriageReturn: false }],
])("first line of %j", (head, expected) => {
  expect(parseFirstLine(head)).toEqual(expected);
});

it("is no script without #! at its very beginning", () => {
  expect(parseFirstLine("")).toBeUndefined();
  expect(parseFirstLine(" #!/bin/sh\n")).toBeUndefined();
});

it.each([
  ["", "it is empty"],
  ["\u00ef\u00bb\u00bf#!/bin/sh\n", "a byte order mark stands before the #! of its first line"],
  ["\n#!/bin/sh\n", "white space stands before the #! of its first line"],
  ["echo hello\n", "it is a text without #! and an interpreter in its first line"],
  ["MZ\u0000\u0001", "it is neither a script nor a program (ELF)"],
])("other file %j", (head, expected) => {
  expect(describeOther(head)).toBe(expected);
});
