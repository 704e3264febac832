/* With the entry of the helper (start.c, self.c) and its flags: `overflow` writes behind an array of its stack; `tables` writes to a table of
 * addresses; without an argument it prints what such a table says. */
#include "run.h"
#include "self.h"
#include "../../native-bindings/shared/sys.h"
#include "../../native-bindings/shared/str.h"

static const char *const WORDS[] = {"relocated", "twice"};

/* Not inlined, and of a size the compiler does not know. */
__attribute__((noinline)) static void overflow(volatile size_t size) {
  char buffer[16];
  volatile char *at = buffer;
  for (size_t i = 0; i < size; i++) at[i] = 'x';
}

int helper_main(int count, char **arguments, char **environment) {
  (void)environment;
  if (count > 1 && text_equal(arguments[1], "overflow")) overflow(256);
  else if (count > 1) *(const char *volatile *)(uintptr_t)&WORDS[0] = NULL;
  const char *word = *(const char *const volatile *)&WORDS[count > 1];
  sys_write(1, word, strlen(word));
  return 0;
}
