#ifndef RUNT_PROGRAM_STACK_H
#define RUNT_PROGRAM_STACK_H
#include <stddef.h>

/* Stack that the engine may use: a deep document ends in an error. HOST_STACK_RESERVE more is there for what it calls (stack.c). */
#define HOST_STACK ((size_t)2 << 20)
#define HOST_STACK_RESERVE ((size_t)512 << 10)

/* Calls function(argument) with the stack that ends at `top`, a multiple of 16. */
void host_call_on_stack(void *top, void (*function)(void *), void *argument);

#endif
