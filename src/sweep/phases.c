/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the phases of a run into the file of the sweep. */
#include "sweep/measure.h"

#include "base/xalloc.h"
#include "ledger/build.h"
#include "sweep/grid.h"
#include "sweep/sums.h"
#include "trace/recording.h"

#include <stdlib.h>
#include <string.h>

/* Each peak is a ledger in the same pass over the recording. */
enum { PEAKS_MAX = 64 };

struct writer {
	struct tare_db *db;
	int64_t run;
	struct tare_err *err;
};

static const char *kind_name(enum tare_phase_kind kind)
{
	return kind == TARE_PHASE_MOMENT ? "mark" : kind == TARE_PHASE_RANGE ? "range" : "phase";
}

static bool is_gap(char c)
{
	return c == ' ' || c == ',' || c == ';' || c == '\t';
}

/* The words key=value of a name, as docs/PHASES.md says. */
static int write_params(struct writer *w, int64_t phase, const char *name)
{
	char *copy = tare_xstrdup(name);
	int rc = 0;

	for (char *at = copy; *at && !rc;) {
		char *word = at, *equals;
		double number;
		bool is_number;

		while (*at && !is_gap(*at))
			at++;
		if (*at)
			*at++ = '\0';
		equals = strchr(word, '=');
		if (!equals || equals == word || !equals[1])
			continue;
		*equals = '\0';
		is_number = tare_grid_is_number(equals + 1, &number);
		rc = tare_db_do(w->db, w->err, "INSERT INTO phase_params VALUES(?,?,?,?,?)", "iittd", w->run, phase, word,
		                equals + 1, is_number ? number : __builtin_nan(""));
	}
	free(copy);
	return rc;
}

static int write_changes(struct writer *w, int64_t phase, const struct tare_phase_on_device *d)
{
	int rc = 0;

	for (int i = 0; i < d->part_nr && !rc; i++)
		rc = tare_db_do(w->db, w->err, "INSERT INTO phase_changes VALUES(?,?,?,?,?)", "iiiti", w->run, phase,
		                (int64_t)d->index, tare_accounts[d->parts[i].account].key, d->parts[i].bytes);
	return rc;
}

static const struct tare_device_ledger *device_of(const struct tare_ledger *l, int index)
{
	for (int i = 0; l && i < l->device_nr; i++)
		if (l->devices[i].index == index)
			return &l->devices[i];
	return NULL;
}

static int write_peak(struct writer *w, int64_t phase, const struct tare_phase_on_device *d,
                      const struct tare_sums *sums)
{
	int rc = 0;

	for (size_t i = 0; i < sums->count && !rc; i++) {
		const struct tare_sum *s = &sums->rows[i];

		rc = tare_db_do(w->db, w->err, "INSERT INTO phase_accounts VALUES(?,?,?,?,?,?,?)", "iiittii", w->run, phase,
		                (int64_t)d->index, tare_accounts[s->account].key, s->part, s->bytes, (int64_t)s->elastic);
	}
	return rc;
}

/* The CPU is the device of a run that opened no GPU, and of no other. */
static bool is_device(const struct tare_ledger *l, const struct tare_phase_on_device *d)
{
	return d->index >= 0 || !l->opened_gpu;
}

/* Tensors on the CPU: nobody else's, and none of it elastic. `at`: as below. */
static int write_cpu(struct writer *w, int64_t phase, const struct tare_phase_row *row,
                     const struct tare_phase_on_device *d, const struct tare_ledger *at)
{
	int rc = tare_db_do(w->db, w->err, "INSERT INTO phase_devices VALUES(?,?,?,?,?,?,?,?,?,?,?,?)", "iiiiiiuiiiii",
	                    w->run, phase, (int64_t)TARE_SWEEP_CPU, d->used_before, d->used_after, d->change,
	                    row->kind == TARE_PHASE_MOMENT ? TARE_DB_UNKNOWN : (uint64_t)d->own, d->peak, d->peak_t_ns,
	                    d->peak, d->peak, (int64_t)0);

	if (!rc && d->change)
		rc = tare_db_do(w->db, w->err, "INSERT INTO phase_changes VALUES(?,?,?,?,?)", "iiiti", w->run, phase,
		                (int64_t)TARE_SWEEP_CPU, "tensors", d->change);
	return rc || !at ? rc : tare_sweep_write_cpu_phase(w->db, w->run, phase, at, w->err);
}

/* `at`: the ledger of the phase's peak on this device; NULL: there were too many phases. */
static int write_device(struct writer *w, int64_t phase, const struct tare_phase_row *row,
                        const struct tare_phase_on_device *d, const struct tare_ledger *at)
{
	const struct tare_device_ledger *ledger = device_of(at, d->index);
	bool is_moment = row->kind == TARE_PHASE_MOMENT;
	struct tare_sums sums = { 0 };
	int rc;

	if (d->index < 0)
		return write_cpu(w, phase, row, d, at);
	if (ledger)
		tare_sums_build(&sums, ledger);
	rc = tare_db_do(w->db, w->err, "INSERT INTO phase_devices VALUES(?,?,?,?,?,?,?,?,?,?,?,?)", "iiiiiiuiiuuu", w->run,
	                phase, (int64_t)d->index, d->used_before, d->used_after, d->change,
	                is_moment ? TARE_DB_UNKNOWN : (uint64_t)d->own, d->peak, d->peak_t_ns,
	                ledger ? (uint64_t)sums.own : TARE_DB_UNKNOWN,
	                ledger ? (uint64_t)(sums.own - sums.elastic) : TARE_DB_UNKNOWN,
	                ledger ? (uint64_t)sums.elastic : TARE_DB_UNKNOWN);
	if (!rc)
		rc = write_changes(w, phase, d);
	if (!rc && ledger)
		rc = write_peak(w, phase, d, &sums);
	tare_sums_free(&sums);
	return rc;
}

static int write_phase(struct writer *w, int64_t phase, const struct tare_phase_row *row)
{
	int rc = tare_db_do(w->db, w->err, "INSERT INTO phases VALUES(?,?,?,?,?,?,?,?,?,?,?)", "iiittituiii", w->run, phase,
	                    row->pid, row->path, row->name, (int64_t)row->depth, kind_name(row->kind), row->repeats,
	                    row->first_t_ns, row->last_t_ns, row->ns);

	return rc ? rc : write_params(w, phase, row->name);
}

/* Asks for an instant per phase and device, whose peaks are at different times. */
static int ask_for_peaks(const struct tare_ledger *ledger, struct tare_instant *out)
{
	int n = 0;

	for (int i = 0; i < ledger->phase_nr; i++)
		for (int k = 0; k < ledger->phases[i].device_nr && n < PEAKS_MAX; k++)
			if (is_device(ledger, &ledger->phases[i].devices[k]))
				out[n++] = (struct tare_instant){
					.kind = TARE_INSTANT_TIME,
					.text = "",
					.t_ns = ledger->phases[i].devices[k].peak_t_ns,
				};
	return n;
}

int tare_sweep_write_phases(struct tare_db *db, int64_t run, struct tare_recording *recording,
                            const struct tare_ledger *ledger, struct tare_err *err)
{
	TARE_FREED_HERE struct tare_instant *instants = tare_xcalloc(PEAKS_MAX, sizeof(*instants));
	TARE_FREED_HERE struct tare_ledger *peaks = tare_xcalloc(PEAKS_MAX, sizeof(*peaks));
	struct writer w = { db, run, err };
	int n = ask_for_peaks(ledger, instants), at = 0, rc = 0;

	if (n)
		tare_ledger_of_recording(recording, NULL, instants, n, peaks);
	for (int i = 0; i < ledger->phase_nr && !rc; i++) {
		const struct tare_phase_row *row = &ledger->phases[i];

		rc = write_phase(&w, i + 1, row);
		for (int k = 0; k < row->device_nr && !rc; k++)
			if (is_device(ledger, &row->devices[k])) {
				rc = write_device(&w, i + 1, row, &row->devices[k], at < n ? &peaks[at] : NULL);
				at++;
			}
	}
	for (int i = 0; i < n; i++)
		tare_ledger_free(&peaks[i]);
	return rc;
}
