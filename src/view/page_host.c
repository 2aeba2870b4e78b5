/* SPDX-License-Identifier: Apache-2.0 */
/* What processes had resident at the kept moments of a page, as tare report --json --at has it. */
#include "view/page.h"

#include "base/emit.h"

static void add_bytes(struct tare_emit *e, uint64_t bytes)
{
	if (bytes == TARE_NOT_KNOWN)
		tare_emit_null(e, NULL);
	else
		tare_emit_uint(e, NULL, bytes);
}

/* [pid, generation, resident, anonymous, files, shared, swap, pinned, tensors] */
static void add_process(struct tare_emit *e, const struct tare_host_ledger *h)
{
	tare_emit_open(e, NULL, '[');
	tare_emit_int(e, NULL, h->pid);
	tare_emit_int(e, NULL, h->generation);
	add_bytes(e, h->rss);
	add_bytes(e, h->anon);
	add_bytes(e, h->file);
	add_bytes(e, h->shmem);
	add_bytes(e, h->swap);
	add_bytes(e, h->pinned);
	if (h->tensors.is_known)
		tare_emit_int(e, NULL, h->tensors.bytes);
	else
		tare_emit_null(e, NULL);
	tare_emit_close(e);
}

void tare_page_host(struct tare_emit *e, const struct tare_page *p)
{
	tare_emit_open(e, "host_moments", '[');
	for (int i = 0; i < p->moment_nr; i++) {
		const struct tare_ledger *l = &p->moments[i];

		tare_emit_open(e, NULL, '{');
		tare_emit_int(e, "t_ns", l->t_ns);
		tare_emit_open(e, "rows", '[');
		for (int k = 0; k < l->host_nr; k++)
			add_process(e, &l->hosts[k]);
		tare_emit_close(e);
		tare_emit_close(e);
	}
	tare_emit_close(e);
}
