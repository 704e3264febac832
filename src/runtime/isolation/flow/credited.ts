import { WINDOW } from "../channel/index.ts";
import type { Loop } from "./loop.ts";
import { Outlet } from "./outlet.ts";

/** What is worth a frame of credit while more is waiting. */
const BATCH = WINDOW / 4;

/** An outlet that says what has gone in batches. `credit`: so many bytes may come again. */
export function creditedOutlet(loop: Loop, fd: number, credit: (bytes: number) => void): Outlet {
  let gone = 0;
  const outlet: Outlet = new Outlet(loop, fd, {
    gone(bytes) {
      gone += bytes;
      if (gone < BATCH && outlet.waiting > 0) return;
      const all = gone;
      gone = 0;
      credit(all);
    },
  });
  return outlet;
}
