/** Where the values of a document stand in its text. Only findings need that, and only few places, so the text is read again for them. */
import { parseJson } from "../spec/index.ts";

export interface Places {
  /** Offsets in the text of these values, by pointer; of one that is not there, that of what should contain it. */
  find(pointers: Iterable<string>): (pointer: string) => number;
}

/** Everything stands there: a document that cannot be read. */
export function onePlace(offset: number): Places {
  return { find: () => () => offset };
}

/** @param trailing where data behind the document begins, which stands for all of it */
export function placesIn(text: string, trailing?: number): Places {
  return {
    find(pointers) {
      const wanted = new Set([""]);
      for (const pointer of pointers) for (let at = pointer; at !== "" && !wanted.has(at); at = parentOf(at)) wanted.add(at);
      const positions = new Map<string, number>();
      // A document of which only the whole is meant begins where it begins.
      if (wanted.size > 1 || trailing === undefined) parseJson(text, { positions, wanted, trailing: () => undefined });
      if (trailing !== undefined) positions.set("", trailing);
      return (pointer) => {
        for (let at = pointer; at !== ""; at = parentOf(at)) {
          const offset = positions.get(at);
          if (offset !== undefined) return offset;
        }
        return positions.get("") ?? 0;
      };
    },
  };
}

function parentOf(pointer: string): string {
  return pointer.slice(0, pointer.lastIndexOf("/"));
}
