1i\
/* Changed for runt in November 2026, by its tools/libseccomp/db.sed. */

# Without a second copy of all filters, into which each rule is put too, in order to take back one that fails: runt gives up then.
/^	\/\* create a checkpoint \*\/$/,/^		goto add_return;$/d
/^	\/\* commit the transaction or abort \*\/$/,/^		db_col_transaction_abort(col, false);$/d
