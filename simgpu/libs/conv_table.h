/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workspaces that a card's cuDNN answered, as a file: `tare calibrate --libraries` records it on a card, and
 * tools/conv-table.py makes one of what tests/gpu/conv_answers.c wrote.
 *
 * The file: "TARECONV", then numbers of 7 bits a byte, low ones first, the top bit set in all bytes but the last:
 * 1 (the form), the version of cuDNN (91900), the compute capability (90), multiprocessors, the length of the card's name
 * and it; how many different sizes there are, and they, rising, each as what it adds to the one before; how many
 * convolutions, and for each, by rising hash: what the hash adds to the one before, and which of the sizes it has.
 * A hash is the upper 40 bits of the 64-bit FNV-1a of the key (sim_conv_key).
 */
#ifndef TARE_SIM_CONV_TABLE_H
#define TARE_SIM_CONV_TABLE_H

#include "simgpu/libs/conv.h"

struct sim_conv_table {
	char card[64];
	uint64_t cudnn, capability, processors;
	size_t count;
	uint64_t *hashes;
	int64_t *bytes;
};

/* False: this is no such table, or there is no memory. */
bool sim_conv_table_read(struct sim_conv_table *table, const void *data, size_t size);
void sim_conv_table_end(struct sim_conv_table *table);
/* The file of a table, whose rows are in order of rising hashes, each once. The caller frees it; NULL: there is no memory. */
unsigned char *sim_conv_table_pack(const struct sim_conv_table *table, size_t *size);
/* What a convolution is known by in a table. False: it has none. */
bool sim_conv_hash(const struct sim_conv *conv, uint64_t *hash);

/* Tables of a folder, its files *.conv, behind those that are there already. */
struct sim_conv_tables {
	struct sim_conv_table *tables;
	size_t count;
};
void sim_conv_tables_open(struct sim_conv_tables *tables, const char *folder);
void sim_conv_tables_end(struct sim_conv_tables *tables);

/* Whom a convolution is looked up for. */
struct sim_conv_asker {
	const char *card;
	uint64_t cudnn, capability, processors;
};
/*
 * The workspace of a convolution by the first table that has it: of this card and version; then of another card of the same
 * capability and number of multiprocessors and this version, or of another version with the same two first numbers.
 * -1: none has it. `table` gets the table, `assumed` whether it is another card's or version's.
 */
int64_t sim_conv_lookup(const struct sim_conv_tables *tables, const struct sim_conv_asker *asker,
                        const struct sim_conv *conv, const struct sim_conv_table **table, bool *assumed);

#endif
