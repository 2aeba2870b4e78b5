/* SPDX-License-Identifier: Apache-2.0 */
/* Sums the rows of a device by account and owner, without pids. */
#include "sweep/sums.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

/* Leaves of these accounts are owners; leaves of others are single objects, or processes. */
static bool has_owners(enum tare_account account)
{
	return account == TARE_ACCOUNT_ALLOCATION || account == TARE_ACCOUNT_VMM || account == TARE_ACCOUNT_POOL ||
	       account == TARE_ACCOUNT_POOL_IDLE;
}

static struct tare_sum *sum_of(struct tare_sums *s, const struct tare_row *row)
{
	const char *part = has_owners(row->account) && row->depth > 1 ? row->label : "";

	for (size_t i = 0; i < s->count; i++)
		if (s->rows[i].account == row->account && s->rows[i].elastic == row->elastic && !strcmp(s->rows[i].part, part))
			return &s->rows[i];
	return TARE_ADD(s->rows, s->count, s->cap,
	                (struct tare_sum){ .account = row->account, .part = part, .elastic = row->elastic });
}

void tare_sums_build(struct tare_sums *out, const struct tare_device_ledger *device)
{
	*out = (struct tare_sums){ 0 };
	for (int i = 0; i < device->row_nr; i++) {
		const struct tare_row *row = &device->rows[i];
		struct tare_sum *sum;

		if (!tare_row_is_end(row))
			continue;
		sum = sum_of(out, row);
		sum->bytes += row->bytes;
		sum->count += row->count;
		sum->driver_ns += row->driver_ns;
		if (sum->evidence < row->evidence)
			sum->evidence = row->evidence;
		if (row->pid < 0 || row->account == TARE_ACCOUNT_OTHER) {
			out->other += row->bytes;
			continue;
		}
		out->own += row->bytes;
		if (row->elastic)
			out->elastic += row->bytes;
	}
}

void tare_sums_free(struct tare_sums *sums)
{
	free(sums->rows);
	*sums = (struct tare_sums){ 0 };
}
