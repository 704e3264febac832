import { expect, test } from "vitest";
import { functionsOf } from "./map.ts";

const MAP = `Discarded input sections

 .text.unused   0x0000000000000000       0x10 build/host/a.o

Linker script and memory map

 .text.JS_Call  0x0000000000402000      0x123 build/quickjs/lib/libquickjs.a(quickjs.o)
 .text.JS_FreeAtom.part.0.isra.0
                0x0000000000402130       0x40 build/quickjs/lib/libquickjs.a(quickjs.o)
                0x0000000000402130                JS_FreeAtom
 .text.startup.main
                0x0000000000402180        0x8 build/host/main.o
 .text          0x0000000000402190       0x32 /usr/lib/libc.a(memcpy.lo)
 .text          0x00000000004021d0        0x0 build/host/main.o
 .text.gone     0x0000000000000000        0x8 build/host/main.o
 .rodata.words  0x0000000000500000       0x12 build/host/main.o
`;

test("the functions that the linker has placed, without what the compiler adds to names", () => {
  expect(functionsOf(MAP)).toEqual([
    { address: "402000", name: "JS_Call" },
    { address: "402130", name: "JS_FreeAtom" },
    { address: "402180", name: "main" },
    { address: "402190", name: "libc.a:memcpy.lo" },
  ]);
});
