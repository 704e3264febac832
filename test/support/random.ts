/** Numbers that look random and are the same in every run: a linear congruential generator, of whose 64 bits the upper ones count. */
export function random(seed: number): (below: number) => number {
  let state = BigInt(seed);
  return (below) => {
    state = (state * 6364136223846793005n + 1442695040888963407n) & 0xffff_ffff_ffff_ffffn;
    return Number(state >> 33n) % below;
  };
}
