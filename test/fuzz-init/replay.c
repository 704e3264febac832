/* Runs packed cases once each, for a compiler without libFuzzer: replay PACK...
 * A pack is u32 length (little endian) and that many bytes, again and again. The last line says how many were run. */
#include <stdio.h>
#include <stdlib.h>

#include "case.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned replay(FILE *in) {
  unsigned count = 0;
  uint8_t head[4];
  while (fread(head, 1, sizeof head, in) == sizeof head) {
    uint32_t size = case_load32(head);
    // Of exactly this size, so that a step beyond it is seen.
    uint8_t *bytes = size > CASE_MAX ? NULL : malloc(size);
    if (bytes == NULL || fread(bytes, 1, size, in) != size) return 0;
    LLVMFuzzerTestOneInput(bytes, size);
    free(bytes);
    count++;
  }
  return count;
}

int main(int count, char **arguments) {
  unsigned cases = 0;
  for (int i = 1; i < count; i++) {
    FILE *in = fopen(arguments[i], "rb");
    unsigned some = in == NULL ? 0 : replay(in);
    if (some == 0) {
      fprintf(stderr, "%s: not a pack of cases\n", arguments[i]);
      return 1;
    }
    fclose(in);
    cases += some;
  }
  printf("%u cases\n", cases);
  return 0;
}
