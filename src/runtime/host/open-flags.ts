/** The flags of open(2) as the kernel of this machine wants them. */
import { architecture } from "runt:host";
import { ARCHITECTURE_O, O as EVERYWHERE } from "../../shared/linux/index.ts";

export const O = { ...EVERYWHERE, ...ARCHITECTURE_O[architecture] } as const;
