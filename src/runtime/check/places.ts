/** Where the values of a document stand in its text. Only findings need that, and only few places, so the text is read again for them. */
import { valueOffsets } from "./value-offsets.ts";

export interface Places {
  /** Offsets in the text of the values at these pointers, in their order; of one that is not there, that of what should contain it. */
  find(pointers: readonly string[]): readonly number[];
}

/** Everything stands there: a document that cannot be read. */
export function onePlace(offset: number): Places {
  return { find: (pointers) => pointers.map(() => offset) };
}

/** In a document that has no two members of one name. */
export function placesInPlain(text: string): Places {
  return { find: (pointers) => valueOffsets(text, pointers, true) };
}

/** @param trailing where data behind the document begins, which stands for all of it */
export function placesIn(text: string, trailing?: number): Places {
  return {
    find(pointers) {
      const offsets = valueOffsets(text, pointers);
      return trailing === undefined ? offsets : offsets.map((offset, index) => (pointers[index] === "" ? trailing : offset));
    },
  };
}
