/* Relocates this program, because it has no dynamic loader or libc and the kernel has put it at a random address. */
#ifndef RUNT_HOSTED
#include "self.h"

#include "../shared/sys.h"
#include <linux/auxvec.h>
#include <linux/elf.h>

#if defined(__x86_64__)
enum { R_RELATIVE = 8 };
#else
enum { R_RELATIVE = 1027 };
#endif

extern const Elf64_Dyn _DYNAMIC[] __attribute__((visibility("hidden")));
extern const Elf64_Ehdr __ehdr_start __attribute__((visibility("hidden")));

/* Named by the compiler (-fstack-protector). */
uintptr_t __stack_chk_guard;
_Noreturn void __stack_chk_fail(void);
_Noreturn void __stack_chk_fail(void) { __builtin_trap(); }

/* Until the tables of addresses are right, no function may use one. */
static void relocate(uintptr_t base) {
  uintptr_t table = 0;
  size_t size = 0;
  for (const Elf64_Dyn *entry = _DYNAMIC; entry->d_tag != DT_NULL; entry++) {
    if (entry->d_tag == DT_RELA) table = base + entry->d_un.d_ptr;
    if (entry->d_tag == DT_RELASZ) size = entry->d_un.d_val;
  }
  const Elf64_Rela *relocation = (const Elf64_Rela *)table;
  for (size_t i = 0; i < size / sizeof *relocation; i++)
    if (relocation[i].r_info == R_RELATIVE) *(uintptr_t *)(base + relocation[i].r_offset) = base + (uintptr_t)relocation[i].r_addend;
}

/* It ends where a page does, whatever their size: the linker has seen to that. */
static void protect(uintptr_t base, uintptr_t page) {
  const Elf64_Phdr *header = (const Elf64_Phdr *)(base + __ehdr_start.e_phoff);
  for (unsigned i = 0; i < __ehdr_start.e_phnum; i++) {
    if (header[i].p_type != PT_GNU_RELRO) continue;
    uintptr_t start = (base + header[i].p_vaddr) & -page;
    sys(__NR_mprotect, start, base + header[i].p_vaddr + header[i].p_memsz - start, PROT_READ);
  }
}

__attribute__((no_stack_protector)) void self_prepare(const unsigned long *auxiliary) {
  uintptr_t base = (uintptr_t)&__ehdr_start;
  uintptr_t page = 4096;
  relocate(base);
  for (; auxiliary[0] != AT_NULL; auxiliary += 2) {
    if (auxiliary[0] == AT_PAGESZ) page = auxiliary[1];
    // The first byte stays 0: no string is written over the guard unseen.
    if (auxiliary[0] == AT_RANDOM) __stack_chk_guard = *(const uintptr_t *)auxiliary[1] & ~(uintptr_t)0xff;
  }
  protect(base, page);
}
#endif
