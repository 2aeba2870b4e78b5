/* SPDX-License-Identifier: Apache-2.0 */
#include "view/ledger_json.h"

#include "trace/bytes.h"
#include "view/advice.h"
#include "view/card.h"
#include "view/host.h"
#include "view/loss.h"
#include "view/oom.h"
#include "view/training.h"

/* The version of the contract: 1 for as long as members are only added. */
enum { CONTRACT = 1 };

static void add_bytes(struct tare_json *j, const char *key, uint64_t bytes)
{
	if (tare_bytes_are_known(bytes))
		tare_json_u64(j, key, bytes);
	else
		tare_json_null(j, key);
}

/* Ids and times are negative where there is none. */
static void add_if_known(struct tare_json *j, const char *key, int64_t v)
{
	if (v < 0)
		tare_json_null(j, key);
	else
		tare_json_i64(j, key, v);
}

static void add_row(struct tare_json *j, const struct tare_row *row)
{
	tare_json_open(j, NULL, '{');
	tare_json_str(j, "path", row->path);
	tare_json_str(j, "label", row->label);
	tare_json_str(j, "account", tare_accounts[row->account].key);
	add_if_known(j, "pid", row->pid);
	add_if_known(j, "rank", row->rank);
	tare_json_i64(j, "generation", row->generation);
	tare_json_bool(j, "leaf", row->leaf);
	tare_json_i64(j, "bytes", row->bytes);
	tare_json_i64(j, "low", row->contended ? row->low : row->bytes);
	tare_json_i64(j, "high", row->contended ? row->high : row->bytes);
	tare_json_bool(j, "contended", row->contended);
	tare_json_str(j, "evidence", tare_evidence_name(row->evidence));
	tare_json_bool(j, "elastic", row->elastic);
	tare_json_u64(j, "count", row->count);
	tare_json_u64(j, "driver_ns", row->driver_ns);
	tare_json_close(j);
}

static void add_device(struct tare_json *j, const struct tare_device_ledger *d)
{
	bool is_counted = d->used != TARE_NOT_KNOWN && d->used_by != TARE_EVIDENCE_INFERRED;

	tare_json_open(j, NULL, '{');
	tare_json_i64(j, "index", d->index);
	tare_json_str(j, "host", d->host);
	tare_json_str(j, "name", d->name);
	tare_json_str(j, "uuid", d->uuid[0] ? d->uuid : NULL);
	add_bytes(j, "total_bytes", d->total);
	add_bytes(j, "used_bytes", d->used);
	add_bytes(j, "reserved_bytes", d->reserved);
	add_bytes(j, "used_start_bytes", d->used_start);
	if (d->used == TARE_NOT_KNOWN)
		tare_json_null(j, "need_bytes");
	else
		tare_json_i64(j, "need_bytes", (int64_t)d->used - d->elastic);
	tare_json_i64(j, "elastic_bytes", d->elastic);
	add_if_known(j, "t_ns", d->t_ns);
	add_if_known(j, "peak_t_ns", d->peak_t_ns);
	add_bytes(j, "peak_used_bytes", d->peak_used);
	tare_json_str(j, "used_evidence", tare_evidence_name(d->used_by));
	tare_json_bool(j, "nvml", d->nvml);
	tare_json_bool(j, "integrated", d->integrated);
	tare_json_bool(j, "simulated", d->simulated);
	tare_card_json(j, d);
	tare_json_open(j, "accounts", '[');
	for (int i = 0; i < d->row_nr; i++)
		add_row(j, &d->rows[i]);
	tare_json_close(j);
	if (is_counted)
		tare_json_i64(j, "unexplained_bytes", d->unexplained);
	else
		tare_json_null(j, "unexplained_bytes");
	tare_json_close(j);
}

static void add_host(struct tare_json *j, const struct tare_host_ledger *h)
{
	tare_json_open(j, NULL, '{');
	tare_json_i64(j, "pid", h->pid);
	tare_json_str(j, "name", h->name);
	tare_json_i64(j, "generation", h->generation);
	add_bytes(j, "pss_bytes", h->pss);
	add_bytes(j, "rss_bytes", h->rss);
	add_bytes(j, "anon_bytes", h->anon);
	add_bytes(j, "file_bytes", h->file);
	add_bytes(j, "shmem_bytes", h->shmem);
	add_bytes(j, "swap_bytes", h->swap);
	add_bytes(j, "peak_rss_bytes", h->peak_rss);
	add_bytes(j, "pinned_bytes", h->pinned);
	add_bytes(j, "registered_bytes", h->registered);
	tare_host_json(j, h);
	/* What was asked for is no leaf: the law still holds, with all that is resident unexplained. */
	add_bytes(j, "unexplained_bytes", h->pss);
	tare_json_close(j);
}

static void add_finding(struct tare_json *j, const struct tare_device_ledger *d,
			const struct tare_finding *f)
{
	const struct tare_advice_info *info = &tare_advices[f->advice];
	struct tare_str text = { 0 };

	tare_advice_finding(&text, f);
	tare_json_open(j, NULL, '{');
	tare_json_str(j, "advice", info->key);
	tare_json_i64(j, "device", d->index);
	tare_json_str(j, "account", tare_accounts[f->account].key);
	add_if_known(j, "pid", f->pid);
	tare_json_i64(j, "saves_bytes", f->bytes);
	tare_json_str(j, "known", tare_known_name(info->known));
	tare_json_str(j, "name", f->name[0] ? f->name : NULL);
	tare_json_u64(j, "count", f->count);
	tare_json_str(j, "finding", tare_str_text(&text));
	tare_json_str(j, "less", tare_finding_less(f));
	tare_json_close(j);
	tare_str_free(&text);
}

static void add_advice(struct tare_json *j, const struct tare_ledger *ledger)
{
	tare_json_open(j, "advice", '[');
	for (int i = 0; i < ledger->device_nr; i++)
		for (int k = 0; k < ledger->devices[i].finding_nr; k++)
			add_finding(j, &ledger->devices[i], &ledger->devices[i].findings[k]);
	tare_json_close(j);
}

/* At `peak` every device has a time of its own; with one device that is the ledger's time too. */
static int64_t time_of(const struct tare_ledger *ledger)
{
	if (ledger->t_ns < 0 && ledger->device_nr == 1)
		return ledger->devices[0].t_ns;
	return ledger->t_ns;
}

void tare_ledger_json(struct tare_json *j, const struct tare_ledger *ledger)
{
	tare_json_u64(j, "tare", CONTRACT);
	tare_json_open(j, "at", '{');
	tare_json_str(j, "label", ledger->at);
	add_if_known(j, "t_ns", time_of(ledger));
	tare_json_close(j);
	tare_json_bool(j, "opened_gpu", ledger->opened_gpu);
	tare_json_open(j, "devices", '[');
	for (int i = 0; i < ledger->device_nr; i++)
		add_device(j, &ledger->devices[i]);
	tare_json_close(j);
	tare_oom_json(j, ledger);
	tare_training_json(j, ledger);
	tare_json_open(j, "host", '[');
	for (int i = 0; i < ledger->host_nr; i++)
		add_host(j, &ledger->hosts[i]);
	tare_json_close(j);
	add_advice(j, ledger);
	tare_loss_json(j, ledger);
	tare_json_open(j, "pauses", '[');
	for (int i = 0; i < ledger->pause_nr; i++) {
		tare_json_open(j, NULL, '{');
		tare_json_i64(j, "from_ns", ledger->pauses[i].from_ns);
		add_if_known(j, "to_ns", ledger->pauses[i].to_ns);
		tare_json_bool(j, "stop", ledger->pauses[i].is_stop);
		tare_json_close(j);
	}
	tare_json_close(j);
	tare_json_open(j, "degraded", '[');
	for (int i = 0; i < ledger->degraded_nr; i++)
		tare_json_str(j, NULL, ledger->degraded[i]);
	tare_json_close(j);
}
