/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/build.h"

#include "base/xalloc.h"
#include "trace/recording.h"

#include <stdlib.h>

static bool next(void *arg, struct tare_event *e)
{
	return tare_recording_next(arg, e);
}

static void rewind_to_start(void *arg)
{
	tare_recording_rewind(arg);
}

void tare_ledger_of_recording(struct tare_recording *recording, const struct tare_ledger_opts *opts,
			      const struct tare_instant *instants, int instant_nr,
			      struct tare_ledger *out)
{
	struct tare_ledger_source source = { next, rewind_to_start, recording };
	struct tare_ledger_opts own = opts ? *opts : (struct tare_ledger_opts){ 0 };
	int notes = tare_recording_note_nr(recording);
	const char **all = tare_xcalloc((size_t)(notes + own.note_nr), sizeof(*all));

	for (int i = 0; i < notes; i++)
		all[i] = tare_recording_note(recording, i);
	for (int i = 0; i < own.note_nr; i++)
		all[notes + i] = own.notes[i];
	own.notes = all;
	own.note_nr += notes;
	own.lines = tare_recording_phases(recording);
	tare_recording_rewind(recording);
	tare_ledger_build(&source, &own, instants, instant_nr, out);
	free(all);
}
