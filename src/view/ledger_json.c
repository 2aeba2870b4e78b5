/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a ledger as members of JSON. */
#include "view/ledger_view.h"

#include "record/format.h"
#include "view/card.h"
#include "view/pinned.h"
#include "view/read_back.h"
#include "view/residue.h"

/* The version of the contract: 1 for as long as members are only added. */
enum { CONTRACT = 1 };

struct at {
	const char *label;
	int64_t t_ns;
};

static const struct tare_column at_columns[] = {
	TARE_COLUMN(at, label, "label", NULL, TEXT),
	TARE_COLUMN(at, t_ns, "t_ns", NULL, TIME, .unknown = TARE_UNKNOWN_NEGATIVE),
};

static const char *account_key(unsigned account)
{
	return tare_accounts[account].key;
}

#define HUGE .unknown = TARE_UNKNOWN_HUGE
#define SAID .unknown = TARE_UNKNOWN_NEGATIVE

/* Low and high are those of a row that is not contended too. */
static const struct tare_column row_columns[] = {
	TARE_COLUMN(tare_row, path, "path", NULL, TEXT),
	TARE_COLUMN(tare_row, label, "label", NULL, TEXT),
	TARE_COLUMN(tare_row, account, "account", NULL, TEXT, .name = account_key),
	TARE_COLUMN(tare_row, pid, "pid", NULL, ID, SAID),
	TARE_COLUMN(tare_row, rank, "rank", NULL, ID, SAID),
	TARE_COLUMN(tare_row, generation, "generation", NULL, ID),
	TARE_COLUMN(tare_row, leaf, "leaf", NULL, FLAG),
	TARE_COLUMN(tare_row, bytes, "bytes", NULL, BYTES),
	TARE_COLUMN(tare_row, low, "low", NULL, BYTES),
	TARE_COLUMN(tare_row, high, "high", NULL, BYTES),
	TARE_COLUMN(tare_row, contended, "contended", NULL, FLAG),
	TARE_COLUMN(tare_row, evidence, "evidence", NULL, TEXT, .name = tare_evidence_name),
	TARE_COLUMN(tare_row, elastic, "elastic", NULL, FLAG),
	TARE_COLUMN(tare_row, count, "count", NULL, COUNT),
	TARE_COLUMN(tare_row, driver_ns, "driver_ns", NULL, DURATION),
};

struct device {
	const char *uuid;
	int64_t need;
	bool is_known, is_counted; /* used: at all, by a counter */
	struct tare_device_ledger of;
};

static void add_card(struct tare_emit *e, const char *key, const void *row)
{
	const struct device *d = row;

	(void)key; /* `card` and `refused` */
	tare_card_json(e, &d->of);
}

static void add_accounts(struct tare_emit *e, const char *key, const void *row)
{
	const struct device *d = row;

	tare_emit_table(e, key, NULL, TARE_COLUMNS(row_columns));
	for (int i = 0; i < d->of.row_nr; i++) {
		struct tare_row account = d->of.rows[i];

		if (!account.contended)
			account.low = account.high = account.bytes;
		tare_emit_add(e, &account);
	}
	tare_emit_table_end(e);
}

struct size {
	uint64_t from;
	struct tare_size_sum of;
};

static const struct tare_column size_columns[] = {
	TARE_COLUMN(size, from, "from_bytes", NULL, BYTES),
	TARE_COLUMN(size, of.count, "count", NULL, COUNT),
	TARE_COLUMN(size, of.bytes, "bytes", NULL, BYTES),
};

static void add_sizes(struct tare_emit *e, const char *key, const void *row)
{
	const struct tare_device_ledger *d = &((const struct device *)row)->of;

	tare_emit_table(e, key, NULL, TARE_COLUMNS(size_columns));
	for (int i = 0; i < d->size_nr; i++)
		tare_emit_add(e, &(struct size){ UINT64_C(1) << d->sizes[i].power, d->sizes[i] });
	tare_emit_table_end(e);
}

static const struct tare_column device_columns[] = {
	TARE_COLUMN(device, of.index, "index", NULL, ID),
	TARE_COLUMN(device, of.host, "host", NULL, TEXT),
	TARE_COLUMN(device, of.name, "name", NULL, TEXT),
	TARE_COLUMN(device, uuid, "uuid", NULL, TEXT),
	TARE_COLUMN(device, of.total, "total_bytes", NULL, BYTES, HUGE),
	TARE_COLUMN(device, of.used, "used_bytes", NULL, BYTES, HUGE),
	TARE_COLUMN(device, of.reserved, "reserved_bytes", NULL, BYTES, HUGE),
	TARE_COLUMN(device, of.used_start, "used_start_bytes", NULL, BYTES, HUGE),
	TARE_COLUMN(device, need, "need_bytes", NULL, BYTES, .when = TARE_WHEN(device, is_known)),
	TARE_COLUMN(device, of.elastic, "elastic_bytes", NULL, BYTES),
	TARE_COLUMN(device, of.asleep, "asleep_bytes", NULL, BYTES),
	TARE_COLUMN(device, of.t_ns, "t_ns", NULL, TIME, SAID),
	TARE_COLUMN(device, of.peak_t_ns, "peak_t_ns", NULL, TIME, SAID),
	TARE_COLUMN(device, of.peak_used, "peak_used_bytes", NULL, BYTES, HUGE),
	TARE_COLUMN(device, of.used_by, "used_evidence", NULL, TEXT, .name = tare_evidence_name),
	TARE_COLUMN(device, of.nvml, "nvml", NULL, FLAG),
	TARE_COLUMN(device, of.integrated, "integrated", NULL, FLAG),
	TARE_COLUMN(device, of.simulated, "simulated", NULL, FLAG),
	TARE_COLUMN(device, of.imported, "imported", NULL, FLAG),
	TARE_COLUMN(device, of.is_heap, "heap", NULL, FLAG),
	TARE_COLUMN(device, of.heap_error, "standard_error_bytes", NULL, BYTES, .when = TARE_WHEN(device, of.is_heap)),
	TARE_NESTED("sizes", add_sizes),
	TARE_NESTED("card", add_card),
	TARE_NESTED("accounts", add_accounts),
	TARE_COLUMN(device, of.unexplained, "unexplained_bytes", NULL, BYTES, .when = TARE_WHEN(device, is_counted)),
};

static void add_devices(struct tare_emit *e, const struct tare_ledger *ledger)
{
	tare_emit_table(e, "devices", NULL, TARE_COLUMNS(device_columns));
	for (int i = 0; i < ledger->device_nr; i++) {
		const struct tare_device_ledger *d = &ledger->devices[i];
		struct device device = { .uuid = d->uuid[0] ? d->uuid : NULL, .of = *d };

		device.is_known = d->used != TARE_NOT_KNOWN;
		device.is_counted = device.is_known && d->used_by != TARE_EVIDENCE_INFERRED;
		device.need = (int64_t)d->used - d->elastic;
		tare_emit_add(e, &device);
	}
	tare_emit_table_end(e);
}

static void add_host_accounts(struct tare_emit *e, const char *key, const void *row)
{
	(void)key; /* `accounts` */
	tare_host_json(e, row);
}

/* What was asked for is no leaf: the law still holds, with all that is resident unexplained. */
static const struct tare_column host_columns[] = {
	TARE_COLUMN(tare_host_ledger, pid, "pid", NULL, ID),
	TARE_COLUMN(tare_host_ledger, name, "name", NULL, TEXT),
	TARE_COLUMN(tare_host_ledger, generation, "generation", NULL, ID),
	TARE_COLUMN(tare_host_ledger, pss, "pss_bytes", NULL, BYTES, HUGE),
	TARE_COLUMN(tare_host_ledger, rss, "rss_bytes", NULL, BYTES, HUGE),
	TARE_COLUMN(tare_host_ledger, anon, "anon_bytes", NULL, BYTES, HUGE),
	TARE_COLUMN(tare_host_ledger, file, "file_bytes", NULL, BYTES, HUGE),
	TARE_COLUMN(tare_host_ledger, shmem, "shmem_bytes", NULL, BYTES, HUGE),
	TARE_COLUMN(tare_host_ledger, swap, "swap_bytes", NULL, BYTES, HUGE),
	TARE_COLUMN(tare_host_ledger, tables, "page_tables_bytes", NULL, BYTES, HUGE),
	TARE_COLUMN(tare_host_ledger, peak_rss, "peak_rss_bytes", NULL, BYTES, HUGE),
	TARE_COLUMN(tare_host_ledger, pinned, "pinned_bytes", NULL, BYTES, HUGE),
	TARE_COLUMN(tare_host_ledger, registered, "registered_bytes", NULL, BYTES, HUGE),
	TARE_NESTED("pinned", tare_pinned_json),
	TARE_NESTED("accounts", add_host_accounts),
	TARE_COLUMN(tare_host_ledger, pss, "unexplained_bytes", NULL, BYTES, HUGE),
};

static void add_hosts(struct tare_emit *e, const struct tare_ledger *ledger)
{
	tare_emit_rows(e, "host", NULL, TARE_COLUMNS(host_columns), TARE_ROWS(ledger->hosts, ledger->host_nr));
}

struct finding {
	const char *advice, *known, *name, *less;
	struct tare_str text;
	int device;
	struct tare_finding of;
};

static const struct tare_column finding_columns[] = {
	TARE_COLUMN(finding, advice, "advice", NULL, TEXT),
	TARE_COLUMN(finding, device, "device", NULL, ID),
	TARE_COLUMN(finding, of.account, "account", NULL, TEXT, .name = account_key),
	TARE_COLUMN(finding, of.pid, "pid", NULL, ID, SAID),
	TARE_COLUMN(finding, of.bytes, "saves_bytes", NULL, BYTES),
	TARE_COLUMN(finding, known, "known", NULL, TEXT),
	TARE_COLUMN(finding, name, "name", NULL, TEXT),
	TARE_COLUMN(finding, of.count, "count", NULL, COUNT),
	TARE_COLUMN(finding, text, "finding", NULL, TEXT),
	TARE_COLUMN(finding, less, "less", NULL, TEXT),
};

static void add_finding(struct tare_emit *e, const struct tare_device_ledger *d, const struct tare_finding *f)
{
	struct finding row = { .advice = tare_advices[f->advice].key,
		                   .known = tare_known_name(tare_advices[f->advice].known),
		                   .name = f->name[0] ? f->name : NULL,
		                   .less = tare_finding_less(f),
		                   .device = d->index,
		                   .of = *f };

	tare_advice_finding(&row.text, f);
	tare_emit_add(e, &row);
	tare_str_free(&row.text);
}

static void add_advice(struct tare_emit *e, const struct tare_ledger *ledger)
{
	tare_emit_table(e, "advice", NULL, TARE_COLUMNS(finding_columns));
	for (int i = 0; i < ledger->device_nr; i++)
		for (int k = 0; k < ledger->devices[i].finding_nr; k++)
			add_finding(e, &ledger->devices[i], &ledger->devices[i].findings[k]);
	tare_emit_table_end(e);
}

static const struct tare_column pause_columns[] = {
	TARE_COLUMN(tare_pause_ledger, from_ns, "from_ns", NULL, TIME),
	TARE_COLUMN(tare_pause_ledger, to_ns, "to_ns", NULL, TIME, SAID),
	TARE_COLUMN(tare_pause_ledger, is_stop, "stop", NULL, FLAG),
};

static void add_pauses(struct tare_emit *e, const struct tare_ledger *ledger)
{
	tare_emit_rows(e, "pauses", NULL, TARE_COLUMNS(pause_columns), TARE_ROWS(ledger->pauses, ledger->pause_nr));
}

/* At `peak` every device has a time of its own; with one device that is the ledger's time too. */
static int64_t time_of(const struct tare_ledger *ledger)
{
	if (ledger->t_ns < 0 && ledger->device_nr == 1)
		return ledger->devices[0].t_ns;
	return ledger->t_ns;
}

void tare_ledger_json(struct tare_emit *e, const struct tare_ledger *ledger)
{
	tare_emit_uint(e, "tare", CONTRACT);
	tare_emit_object(e, "at", TARE_COLUMNS(at_columns), &(struct at){ ledger->at, time_of(ledger) });
	tare_emit_flag(e, "opened_gpu", ledger->opened_gpu);
	add_devices(e, ledger);
	tare_oom_json(e, ledger);
	tare_read_back_json(e, ledger);
	tare_training_json(e, ledger);
	tare_growth_json(e, ledger);
	add_hosts(e, ledger);
	tare_host_shared_json(e, ledger);
	add_advice(e, ledger);
	tare_residue_json(e, ledger);
	tare_loss_json(e, ledger);
	add_pauses(e, ledger);
	tare_emit_open(e, "degraded", '[');
	for (int i = 0; i < ledger->degraded_nr; i++)
		tare_emit_str(e, NULL, ledger->degraded[i]);
	tare_emit_close(e);
	tare_emit_open(e, "notes", '[');
	for (int i = 0; i < ledger->note_nr; i++)
		tare_emit_str(e, NULL, ledger->notes[i]);
	tare_emit_close(e);
}
