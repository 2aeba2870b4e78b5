/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_VIEW_GRAPH_H
#define TARE_VIEW_GRAPH_H

#include "base/emit.h"
#include "ledger/ledger.h"

/* `--by graph`: what every graph cost, and what could be saved. */

struct tare_graph_counts {
	uint64_t captured, built, failed; /* failed: captures that were invalid or never ended */
	uint64_t alive;                   /* executable graphs */
	int64_t exec_bytes;               /* taken by all of them */
};
void tare_graph_count(struct tare_graph_counts *out, const struct tare_ledger *ledger);

/* "graphs captured: 0", or how many and what of. One line. */
void tare_graph_line(struct tare_emit *e, const struct tare_ledger *ledger);

/* The sentence of a saving, with its figures. */
void tare_graph_saving_text(struct tare_str *out, const struct tare_graph_saving *saving);

/* Text: a table per device, at most a screen of it. Data: a row for each graph, and the savings. */
void tare_graph_text(struct tare_emit *e, const struct tare_ledger *ledger);

#endif
