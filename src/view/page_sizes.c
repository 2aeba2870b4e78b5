/* SPDX-License-Identifier: Apache-2.0 */
/* How large live tensors are, as data of a page: at the peak and at the end, so many of so many bytes of each power of two. */
#include "view/page.h"

#include "base/emit.h"

enum { POWERS = 63 };

/* Of sizes from 2^n up to 2^(n + 1). */
struct sizes {
	uint64_t count[POWERS];
	int64_t bytes[POWERS];
};

static int power_of(int64_t bytes)
{
	int n = 0;

	while (n + 1 < POWERS && bytes >> (n + 1))
		n++;
	return n;
}

static void sum_up(struct sizes *s, const struct tare_tensor_rows *tensors)
{
	for (int i = 0; i < tensors->count; i++) {
		int n = power_of(tensors->items[i].bytes);

		s->count[n]++;
		s->bytes[n] += tensors->items[i].bytes;
	}
}

/* {"at", "device": null of the CPU, "sizes": [[n, tensors, bytes], …]} */
static void add(struct tare_emit *e, const char *at, const struct tare_device_ledger *d, const struct sizes *s)
{
	tare_emit_open(e, NULL, '{');
	tare_emit_str(e, "at", at);
	if (d)
		tare_emit_int(e, "device", d->index);
	else
		tare_emit_null(e, "device");
	tare_emit_open(e, "sizes", '[');
	for (int n = 0; n < POWERS; n++) {
		if (!s->count[n])
			continue;
		tare_emit_open(e, NULL, '[');
		tare_emit_int(e, NULL, n);
		tare_emit_uint(e, NULL, s->count[n]);
		tare_emit_int(e, NULL, s->bytes[n]);
		tare_emit_close(e);
	}
	tare_emit_close(e);
	tare_emit_close(e);
}

void tare_page_sizes(struct tare_emit *e, const struct tare_page *p)
{
	tare_emit_open(e, "sizes", '[');
	for (int i = 0; i < p->ledger_nr; i++) {
		const struct tare_ledger *l = &p->ledgers[i];
		struct sizes cpu = { 0 };

		for (int d = 0; d < l->device_nr; d++) {
			struct sizes s = { 0 };

			sum_up(&s, &l->devices[d].tensors);
			if (l->devices[d].tensors.count)
				add(e, l->at, &l->devices[d], &s);
		}
		for (int h = 0; h < l->host_nr; h++)
			sum_up(&cpu, &l->hosts[h].blocks);
		add(e, l->at, NULL, &cpu);
	}
	tare_emit_close(e);
}
