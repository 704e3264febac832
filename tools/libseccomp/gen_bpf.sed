# How a program is put together, without three searches that grow with the square of its length.

1i\
/* Changed for runt in November 2026, by its tools/libseccomp/gen_bpf.sed. */

# Blocks are spread over all 256 chains of the hash table; the mask left eight.
s/^\(#define _BPF_HASH_MASK[^(]*\)(_BPF_HASH_BITS - 1)/\1(_BPF_HASH_SIZE - 1)/

# A block that is there already becomes the first of its duplicates, not the last: nobody walks along hundreds of them.
/^\t*while (b_iter->hash_nxt != NULL)$/,/^\t*b_iter = b_iter->hash_nxt;$/c\
				blk->hash_nxt = b_iter->hash_nxt;

# The target of a jump is the last block of that hash. It is looked up, not searched for from the end of the program: blocks that are
# put in between have the hash of one behind them, so the last stays the last.
/^	struct bpf_blk \*lvl_prv, \*lvl_nxt;$/a\
	unsigned int position;
/^	unsigned int found;$/a\
	struct bpf_blk *last;
/^	\/\* check for long jumps and insert if necessary, we also verify that$/i\
	for (b_iter = b_head, res_cnt = 1; b_iter != NULL; b_iter = b_iter->next) {\
		struct bpf_hash_bkt *bucket = _hsh_find_bkt(state, b_iter->hash);\
		b_iter->position = res_cnt++;\
		if (bucket == NULL) {\
			rc = -EFAULT;\
			goto build_bpf_free_blks;\
		}\
		bucket->last = b_iter;\
	}\

/^	b_tgt = tail;$/,/^		return -EFAULT;$/c\
	struct bpf_hash_bkt *bucket = _hsh_find_bkt(state, tgt_hash);\
	b_tgt = bucket == NULL ? NULL : bucket->last;\
	if (b_tgt == NULL || b_tgt->position <= blk->position)\
		return -EFAULT;

# Whether the target is near enough is also the answer of the walk to the nearest block of its hash, which comes next;
# and a return that is near enough is no farther as the target of a jump.
/^	\/\* calculate the jump distance \*\/$/,/^$/d
/^		if (rc == 1)$/,/^			return rc;$/c\
		return rc;
