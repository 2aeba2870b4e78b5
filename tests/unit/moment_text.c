/* SPDX-License-Identifier: Apache-2.0 */
/* The ledger of a recording at a moment as a text, so that two of them can be compared. */
#include "moment_text.h"

#include "ledger/build.h"
#include "make_log.h"
#include "test.h"
#include "trace/recording.h"

static void add_device(struct tare_str *out, const struct tare_device_ledger *device)
{
	for (int k = 0; k < device->row_nr; k++) {
		const struct tare_row *row = &device->rows[k];

		tare_str_addf(out, " %s %lld %llu %d %lld\n", row->path, (long long)row->bytes, (unsigned long long)row->count,
		              row->evidence, (long long)row->driver_ns);
	}
}

void moment_text_add(struct tare_str *out, const char *moment)
{
	struct tare_recording *r;
	struct tare_instant at;
	struct tare_ledger l;

	CHECK_INT(tare_recording_open(&r, make_dir(), NULL), 0);
	CHECK_INT(tare_instant_parse(moment, &at, NULL), 0);
	tare_ledger_of_recording(r, NULL, &at, 1, &l);
	tare_str_addf(out, "%s: %lld\n", moment, (long long)l.t_ns);
	for (int d = 0; d < l.device_nr; d++)
		add_device(out, &l.devices[d]);
	for (int k = 0; k < l.degraded_nr; k++)
		tare_str_addf(out, " %s\n", l.degraded[k]);
	for (int k = 0; k < l.loss_nr; k++)
		tare_str_addf(out, " lost %llu %lld %lld\n", (unsigned long long)l.losses[k].records,
		              (long long)l.losses[k].from_ns, (long long)l.losses[k].to_ns);
	tare_ledger_free(&l);
	tare_recording_close(r);
}
