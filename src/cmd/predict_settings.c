/* SPDX-License-Identifier: Apache-2.0 */
/* Where memory runs out: settings of PyTorch's allocator with which it would not have, as tare whatif finds them. */
#include "cmd/predict.h"

#include "base/comparator.h"

#include "cmd/whatif_open.h"

#include <stdlib.h>
#include <string.h>

static bool is_usual(const char *conf)
{
	return !strcmp(conf, "expandable_segments:True");
}

/* What PyTorch itself advises first, then what says less: each word of a setting is something to know about. */
TARE_COMPARATOR_OF_POINTERS(by_length, char,
                            TARE_FALLING_BY(is_usual(it)) TARE_RISING_BY(strlen(it)) TARE_ALPHABETIC_BY(it))

void tare_predict_find_settings(const char *recording, struct tare_predict_card *card, struct tare_arena *memory)
{
	struct tare_whatif_ask ask = { 0 };
	struct tare_whatif_case *best;
	struct tare_whatif w;
	struct tare_err err;
	size_t count;

	if (!card->is_out_of_memory || tare_whatif_open(&w, recording, &ask, &err) != 0)
		return; /* no memory of PyTorch's ran out */
	/* Where the replay is not what happened, or nothing runs out in it, it cannot tell what would help. */
	best = !w.sum.mismatches && w.sum.oom.is_there ? tare_whatif_best(&w, &ask, &count) : NULL;
	if (best) {
		card->settings = tare_arena_alloc(memory, (count + 1) * sizeof(*card->settings));
		for (size_t i = 0; i < count; i++)
			if (!best[i].oom.is_there && best[i].conf && *best[i].conf)
				card->settings[card->setting_nr++] = tare_arena_strdup(memory, best[i].conf);
		TARE_SORT(card->settings, card->setting_nr, by_length);
	}
	free(best);
	tare_whatif_close(&w);
}
