import { expect, test } from "vitest";
import { linkedFiles } from "./linked.ts";

const MAP = `Archive member included to satisfy reference by file (symbol)

lib/libx.a(unused.o)          host/main.o (x)

Discarded input sections

 .text.gone     0x0000000000000000       0x10 lib/liby.a(gone.o)

Linker script and memory map

LOAD host/main.o
LOAD lib/libx.a
LOAD lib/liby.a
.text           0x0000000000401000     0x1000
 *(.text.unlikely .text.*_unlikely)
 .text          0x0000000000401000       0x10 host/main.o
 .text.a_function_with_a_long_name
                0x0000000000401010        0x5 lib/libx.a(b.o)
                0x0000000000401010                a_function_with_a_long_name
 .text          0x0000000000401015        0x0 lib/libx.a(empty.o)
 *fill*         0x0000000000401015        0xb 
 *fill*         0x0000000000401020        0x8 1f2003d5
 .data          0x0000000000402000        0x8 lib/libx.a(a.o)
 COMMON         0x0000000000403000        0x8 lib/libx.a(b.o)
 .comment       0x0000000000000001       0x27 lib/liby.a(only-a-comment.o)
 .text.gone     0x0000000000000000       0x10 lib/liby.a(gone.o)
OUTPUT(program elf64-x86-64)
`;

test("files and members with something in the program, and no others", () => {
  expect(linkedFiles(MAP)).toEqual([
    { file: "host/main.o", members: [] },
    { file: "lib/libx.a", members: ["a.o", "b.o"] },
  ]);
});

test("something else is no map", () => {
  expect(() => linkedFiles("")).toThrow("memory map");
});
