1i\
/* Changed for runt in November 2026, by its tools/libseccomp/syscalls.perf.sed. */

# Numbers of an architecture are looked up in an index that its first question makes, not in the table of all names.
/^static const struct arch_syscall_table \*__syscall_lookup_num(int num,$/i\
#define INDEXED_ARCHES 4\
#define INDEXED_NUMBERS 512\
#define TABLE_ENTRIES (sizeof(wordlist)/sizeof(wordlist[0]))\
static struct {\
	int offset;\
	/* one more than the place of the first entry with this number, 0: there is none */\
	unsigned short entry[INDEXED_NUMBERS];\
} number_index[INDEXED_ARCHES];\
\
static const unsigned short *index_of(int offset_arch)\
{\
	unsigned int i, n = 0;\
\
	while (n < INDEXED_ARCHES && number_index[n].offset != 0 && number_index[n].offset != offset_arch)\
		n++;\
	if (n == INDEXED_ARCHES)\
		return NULL;\
	if (number_index[n].offset == offset_arch)\
		return number_index[n].entry;\
	number_index[n].offset = offset_arch;\
	for (i = TABLE_ENTRIES; i-- > 0; ) {\
		int number = __syscall_offset_value(&wordlist[i], offset_arch);\
		if (number >= 0 && number < INDEXED_NUMBERS)\
			number_index[n].entry[number] = i + 1;\
	}\
	return number_index[n].entry;\
}\

/^static const struct arch_syscall_table \*__syscall_lookup_num(int num,$/,/^}/{
/^	unsigned int i;$/a\
	const unsigned short *entries = num >= 0 && num < INDEXED_NUMBERS ? index_of(offset_arch) : NULL;\
	if (entries != NULL)\
		return entries[num] == 0 ? NULL : &wordlist[entries[num] - 1];
}
