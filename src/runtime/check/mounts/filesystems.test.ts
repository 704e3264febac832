import { expect, test } from "vitest";
import { type OptionForm, optionsIn, valueProblem } from "./filesystems.ts";

const isTaken = (form: OptionForm, value: string): boolean => valueProblem(form, value) === undefined;

test.each<[form: OptionForm, taken: readonly string[], refused: readonly string[]]>([
  ["size", ["64m", "0x10K", "017k", "5%", "100"], ["5 %", "08", "1mb", "-1", "%"]],
  ["amount", ["64m", "1", "0"], ["5%", "1.5k", "x"]],
  ["octal", ["755", "1777", "001777", "0000001777", "37777777777"], ["8", "0x1ff", "40000000000", "u=rwx"]],
  ["id", ["0", "1000", "0x3e8", "01750", "4294967294"], ["08", "4294967295", "root", "-1", "99999999999"]],
  ["number", ["4294967295", "0x10"], ["4294967296", "ten"]],
])("the kernel's form of %s", (form, taken, refused) => {
  expect(taken.filter((value) => !isTaken(form, value))).toEqual([]);
  expect(refused.filter((value) => isTaken(form, value))).toEqual([]);
});

test.each([
  ["tmpfs", "size=64m,mode=755", ["size=64m", "mode=755"]],
  ["tmpfs", "size=64m,", ["size=64m"]],
  ["tmpfs", "mpol=bind:0,2-3,size=1m", ["mpol=bind:0,2-3", "size=1m"]],
  ["tmpfs", "context=system_u:object_r:container_file_t:s0:c1,c2", ["context=system_u:object_r:container_file_t:s0:c1,c2"]],
  ["overlay", "lowerdir=/a,upperdir=/b,workdir=/c,volatile", ["lowerdir=/a", "upperdir=/b", "workdir=/c", "volatile"]],
  ["overlay", "lowerdir=/a,b:/c", ["lowerdir=/a,b:/c"]],
  ["overlay", "lowerdir+=/a,lowerdir+=/b", ["lowerdir+=/a", "lowerdir+=/b"]],
  ["overlay", "lowerdir=/a\\,index=x", ["lowerdir=/a\\,index=x"]],
])("the options of a word of %s: %s", (type, word, options) => {
  expect(optionsIn(type, word)).toEqual(options);
});
