/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a field of a fold is saved, where its type does not tell. Every field of struct tare_fold, and of the structs in it, is saved with a state
 * (ledger/state): tools/state-tables.py makes the tables of that out of the structs. These words stand before a field, and mean
 * nothing to the compiler.
 *
 * Without one, a pointer NAMEs points to as many as the field NAME_nr says, `items` to as many as `nr` or else `count`, with NAME_cap or
 * `cap` for the room that there is; a pointer to char alone is a text.
 */
#ifndef TARE_LEDGER_SAVED_H
#define TARE_LEDGER_SAVED_H

/* Not at all; it is 0 when a state is loaded: it is worked out again, or is of whoever asks. */
#define TARE_NOT_SAVED
/* The same of a pointer whose memory is the struct's, or of a struct that has such: it is freed with the rest. */
#define TARE_ONLY_FREED
/* A pointer to one struct, or NULL, which is freed with the struct that points to it. */
#define TARE_SAVED_ONE
/* A pointer to as many as that field says. */
#define TARE_SAVED_AS_MANY(field)
/* A pointer to as many as state/state.c knows by that number. */
#define TARE_SAVED_BY_STATE(number)

#endif
