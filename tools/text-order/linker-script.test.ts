import { expect, test } from "vitest";
import { linkerScript } from "./linker-script.ts";

test("a function is put in its place whatever the compiler has appended to its name, and assembly by its file", () => {
  expect(linkerScript("# first\nmain JS_Call\n\nlibc.a:memcpy.lo\n")).toBe(`SECTIONS
{
  .text.often : ALIGN(CONSTANT(MAXPAGESIZE))
  {
    *(.text.main .text.main.* .text.startup.main)
    *(.text.JS_Call .text.JS_Call.* .text.startup.JS_Call)
    *libc.a:memcpy.lo(.text)
  }
}
INSERT BEFORE .text;
`);
});
