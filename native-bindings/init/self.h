/* The first steps of a program without loader and libc. */
#ifndef RUNT_SELF_H
#define RUNT_SELF_H

/* Relocates the program, makes its tables of addresses read-only, takes the guard of the stack from AT_RANDOM. `auxiliary` is the
 * auxiliary vector (getauxval(3)). Before anything else. */
void self_prepare(const unsigned long *auxiliary);
#endif
