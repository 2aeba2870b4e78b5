/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `tare top` pays at a refresh to read a recording that grows: CPU time of each turn. Prints, and judges nothing.
 *
 *     bench_live REC: a turn for every line on stdin
 */
#include "ledger/live.h"
#include "trace/recording.h"

#include <stdio.h>
#include <time.h>

static const struct tare_ledger_opts opts = { .without_tensors = true, .without_stacks = true, .is_brief = true };

static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* False: nothing can be read. */
static bool turn(struct tare_ledger_live *live, const char *path, struct tare_ledger *ledger)
{
	struct tare_recording *recording;

	return tare_ledger_live_go_on(live, &opts, ledger) ||
	       (!tare_recording_open(&recording, path, NULL) && tare_ledger_live_begin(live, recording, &opts, ledger));
}

int main(int argc, char **argv)
{
	struct tare_ledger_live live = { 0 };
	struct tare_ledger ledger = { 0 };
	char line[64];

	if (argc != 2)
		return 2;
	while (fgets(line, sizeof(line), stdin)) {
		uint64_t grown = live.grown;
		double before = cpu_ms(), until = (double)live.until_ns;
		bool is_read = turn(&live, argv[1], &ledger);

		printf("%s %.2f ms, %.2f s further\n",
		       !is_read             ? "not read"
		       : live.grown > grown ? "went on"
		                            : "began",
		       cpu_ms() - before, ((double)live.until_ns - until) / 1e9);
		fflush(stdout);
		if (is_read)
			tare_ledger_free(&ledger);
	}
	tare_ledger_live_free(&live);
	return 0;
}
