/** --console-size and --resize-fifo: the size of a terminal that is not shown in another one, at the beginning and later. */
import { RuntError } from "../errors/index.ts";
import * as host from "../host/index.ts";

const LARGEST = 0xffff;

/** "40x100": rows and columns, each from 1 to 65535. @throws RuntError usage */
export function parseSize(text: string): { readonly rows: number; readonly columns: number } {
  const [, rows = 0, columns = 0] = (/^(\d{1,5})x(\d{1,5})$/.exec(text) ?? []).map(Number);
  if (rows > 0 && columns > 0 && rows <= LARGEST && columns <= LARGEST) return { rows, columns };
  throw new RuntError("usage", `--console-size ${JSON.stringify(text)}: use ROWSxCOLUMNS, each from 1 to ${LARGEST}, as 40x100`);
}

/** A descriptor for the monitor: of reading and writing, so that the FIFO has no end when a writer goes. @throws RuntError usage when it is none */
export function openSizes(path: string): number {
  try {
    if (((host.stat(path)?.mode ?? 0) & host.S.IFMT) !== host.S.IFIFO) throw new RuntError("usage", `--resize-fifo ${path}: no FIFO`);
    return host.open(path, host.O.RDWR | host.O.NONBLOCK | host.O.NOCTTY);
  } catch (error) {
    if (error instanceof RuntError) throw error;
    throw new RuntError("usage", `--resize-fifo ${path}: ${host.reason(error)}`, { cause: error });
  }
}
