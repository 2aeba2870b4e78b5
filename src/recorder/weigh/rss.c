/* SPDX-License-Identifier: Apache-2.0 */
/* Records what a call makes resident on the host. */
#include "recorder/weigh/rss.h"

#include <string.h>
#include <sys/auxv.h>

#include "recorder/base/fork.h"
#include "recorder/base/plib.h"
#include "recorder/elf/libc.h"
#include "recorder/log/emit.h"
#include "recorder/weigh/weigh.h"
#include "record/clock.h"

/* "size resident shared …" in pages; what is shared is of files and of shared memory. */
void tare_rss_read(struct tare_rss *out)
{
	uint64_t since = tare_clock_ticks(), resident, shared;
	const char *at;
	char text[128];

	out->is_read = false;
	if (!tare_weigh_allowed(TARE_WEIGH_USEFUL) || !tare_plib_read_file("/proc/self/statm", text, sizeof(text)))
		return;
	at = tare_plib_first(text, ' ');
	resident = tare_plib_number(at);
	at = at ? tare_plib_first(at, ' ') : NULL;
	shared = tare_plib_number(at);
	tare_weigh_spend(since);
	if (!at || shared > resident)
		return;
	out->file = shared * tare_libc()->auxiliary(AT_PAGESZ);
	out->anon = resident * tare_libc()->auxiliary(AT_PAGESZ) - out->file;
	out->is_read = true;
}

uint64_t tare_rss_most(void)
{
	char text[1536]; /* it stands behind the ids of the process and its groups */
	uint64_t kib;

	if (!tare_plib_read_file("/proc/self/status", text, sizeof(text)) || !tare_plib_value(text, "VmHWM:", &kib))
		return TARE_NOT_KNOWN;
	return kib * 1024;
}

static uint64_t size_of(uint64_t before, uint64_t after)
{
	return after < before ? before - after : after - before;
}

uint64_t tare_rss_changed(const struct tare_rss *before, const struct tare_rss *after)
{
	if (!before->is_read || !after->is_read)
		return 0;
	return size_of(before->anon, after->anon) + size_of(before->file, after->file);
}

void tare_rss_record(const struct tare_rss *before, const struct tare_rss *after, uint32_t api, uint32_t python,
                     uint32_t stack, uint64_t stamp)
{
	struct tare_rec_rss rec;

	if (tare_rss_changed(before, after) < TARE_RSS_SMALL)
		return;
	memset(&rec, 0, sizeof(rec));
	rec.tid = tare_fork_tid();
	rec.api = api;
	rec.anon = (int64_t)(after->anon - before->anon);
	rec.file = (int64_t)(after->file - before->file);
	rec.python = python;
	rec.stack = stack;
	tare_emit_rss(&rec, stamp);
}
