/** A program for test/native/arm64.test.ts: each argument is a profile (profileText), each line of the output its filter, in hexadecimal. */
import * as host from "../../../src/runtime/host/index.ts";

for (const profile of host.argv().slice(1)) {
  const words = new Uint8Array(host.seccompCompile(profile).program);
  host.write(1, `${Array.from(words, (byte) => byte.toString(16).padStart(2, "0")).join("")}\n`);
}
