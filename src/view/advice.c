/* SPDX-License-Identifier: Apache-2.0 */
#include "view/advice.h"

#include "base/units.h"
#include "view/columns.h"

#include <string.h>

#define MIB INT64_C(1048576)

static const int64_t large = 1024 * MIB; /* an account worth a word */
static const int64_t large_unexplained = 16 * MIB;
static const int64_t large_elastic = 64 * MIB;

/* A device at the instant at which some figure of it was largest. */
struct finding {
	const struct tare_ledger *ledger;
	const struct tare_device_ledger *device;
	int64_t bytes;
};

static int64_t magnitude(int64_t v)
{
	return v < 0 ? -v : v;
}

static int64_t account_bytes(const struct tare_device_ledger *d, int account)
{
	int64_t sum = 0;

	for (int i = 0; i < d->row_nr; i++)
		if (d->rows[i].leaf && (int)d->rows[i].account == account)
			sum += d->rows[i].bytes;
	return sum;
}

static int64_t unexplained_bytes(const struct tare_device_ledger *d, int unused)
{
	(void)unused;
	return d->unexplained;
}

static int64_t elastic_bytes(const struct tare_device_ledger *d, int unused)
{
	(void)unused;
	return d->elastic;
}

static struct finding largest(const struct tare_ledger *const *ledgers, int ledger_nr,
			      const struct tare_device_ledger *device,
			      int64_t (*bytes_of)(const struct tare_device_ledger *, int), int arg)
{
	struct finding f = { 0 };

	for (int i = 0; i < ledger_nr; i++) {
		const struct tare_device_ledger *d = tare_columns_device(ledgers[i], device);
		int64_t bytes = d ? bytes_of(d, arg) : 0;

		if (magnitude(bytes) > magnitude(f.bytes))
			f = (struct finding){ ledgers[i], d, bytes };
	}
	return f;
}

static void add_sentence(struct tare_str *out, const char *text,
			 const struct tare_text_style *style)
{
	struct tare_str line = { 0 };

	tare_str_add(&line, "! ");
	tare_str_add_wrapped(&line, text, 2, 2, (size_t)style->width);
	tare_text_tone(out, tare_str_text(&line), TARE_TONE_ALARM, style);
	tare_str_add_char(out, '\n');
	tare_str_free(&line);
}

/* "GPU 1: 8,184.0 MiB at peak: TEXT. LESS"; which GPU only where there are several. */
static void add_finding(struct tare_str *out, const struct finding *f, const char *text,
			const char *less, const struct tare_text_style *style)
{
	char mib[TARE_UNITS_TEXT_MAX];
	struct tare_str s = { 0 };

	if (f->ledger->device_nr > 1)
		tare_str_addf(&s, "GPU %d: ", f->device->index);
	tare_str_addf(&s, "%s MiB at %s: %s. %s", tare_units_mib(mib, f->bytes), f->ledger->at,
		      text, less);
	add_sentence(out, tare_str_text(&s), style);
	tare_str_free(&s);
}

static void advise_accounts(struct tare_str *out, const struct tare_ledger *const *ledgers,
			    int ledger_nr, const struct tare_device_ledger *device,
			    const struct tare_text_style *style)
{
	for (int a = 0; a < TARE_ACCOUNT_NR; a++) {
		struct finding f = largest(ledgers, ledger_nr, device, account_bytes, a);

		if (f.bytes >= large && tare_accounts[a].less[0])
			add_finding(out, &f, tare_accounts[a].label, tare_accounts[a].less, style);
	}
}

static void advise_device(struct tare_str *out, const struct tare_ledger *const *ledgers,
			  int ledger_nr, const struct tare_device_ledger *device,
			  const struct tare_text_style *style)
{
	struct finding f;

	advise_accounts(out, ledgers, ledger_nr, device, style);
	f = largest(ledgers, ledger_nr, device, elastic_bytes, 0);
	if (f.bytes >= large_elastic && (uint64_t)f.bytes >= f.device->used / 10)
		add_finding(out, &f, "taken because the card had room (~)",
			    "A smaller card gets less.", style);
	f = largest(ledgers, ledger_nr, device, unexplained_bytes, 0);
	if (magnitude(f.bytes) > large_unexplained)
		add_finding(
			out, &f, "unexplained",
			"tare dump shows the calls around that time; tare doctor checks what could "
			"not be seen here.",
			style);
}

static void add_degraded(struct tare_str *out, const struct tare_ledger *ledger,
			 const struct tare_text_style *style)
{
	for (int i = 0; i < ledger->degraded_nr; i++) {
		struct tare_str s = { 0 };

		tare_str_add(&s, "degraded: ");
		tare_text_add_name(&s, ledger->degraded[i]);
		add_sentence(out, tare_str_text(&s), style);
		tare_str_free(&s);
	}
}

void tare_advice_text(struct tare_str *out, const struct tare_ledger *const *ledgers, int ledger_nr,
		      const struct tare_text_style *style)
{
	const struct tare_ledger *last = ledgers[ledger_nr - 1];

	for (int d = 0; d < last->device_nr; d++)
		advise_device(out, ledgers, ledger_nr, &last->devices[d], style);
	add_degraded(out, last, style); /* the last instant knows all of them */
}
