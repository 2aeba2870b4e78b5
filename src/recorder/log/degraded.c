/* SPDX-License-Identifier: Apache-2.0 */
/* Records a sentence on what could not be recorded, once. */
#include "recorder/log/degraded.h"

#include <string.h>

#include "recorder/base/plib.h"
#include "recorder/base/scratch.h"
#include "recorder/log/emit.h"

#define DEGRADED_MAX 32

/* False: it was said before, or too much was. */
static bool is_said_first(const char *text)
{
	static uint64_t said[DEGRADED_MAX];
	uint64_t hash = tare_plib_hash(text, strlen(text)) | 1;
	int i;

	for (i = 0; i < DEGRADED_MAX; i++) {
		uint64_t none = 0;

		if (said[i] == hash)
			return false;
		if (__atomic_compare_exchange_n(&said[i], &none, hash, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			return true;
	}
	return false;
}

void tare_degraded(const char *sentence, const char *subject)
{
	enum { TEXT = 512 };
	char *text = tare_scratch_take(TEXT);

	if (!text)
		return;
	tare_plib_format(text, TEXT, "%s%s%s", subject ? subject : "", subject ? ": " : "", sentence);
	if (is_said_first(text))
		tare_emit_degraded(&(struct tare_rec_degraded){ 0 }, text);
	tare_scratch_give(text, TEXT);
}
