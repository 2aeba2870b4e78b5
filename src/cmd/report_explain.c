/* SPDX-License-Identifier: Apache-2.0 */
/* Adds to a page what other tools show of the processes of a ledger, those with most first. */
#include "cmd/report_explain.h"

#include "base/comparator.h"
#include "base/xalloc.h"
#include "cmd/explain.h"
#include "ledger/ledger.h"

#include <stdlib.h>

struct process {
	int64_t pid, bytes;
};

TARE_COMPARATOR(by_size, struct process, TARE_FALLING(bytes) TARE_RISING(pid))

/* An id once: of several programs that a process was, one after the other, tools show what it is. */
static void add(struct process *all, int *nr, int64_t pid, int64_t bytes)
{
	int i = 0;

	while (i < *nr && all[i].pid != pid)
		i++;
	if (i == *nr)
		all[(*nr)++] = (struct process){ .pid = pid };
	if (all[i].bytes < bytes)
		all[i].bytes = bytes;
}

/* Processes without host memory come last. */
static int list(struct process **out, const struct tare_ledger *l)
{
	size_t room = (size_t)l->host_nr;
	int nr = 0;

	for (int d = 0; d < l->device_nr; d++)
		room += (size_t)l->devices[d].row_nr;
	*out = tare_xcalloc(room + 1, sizeof(**out));
	for (int i = 0; i < l->host_nr; i++)
		add(*out, &nr, l->hosts[i].pid, l->hosts[i].rss <= INT64_MAX ? (int64_t)l->hosts[i].rss : 0);
	for (int d = 0; d < l->device_nr; d++)
		for (int i = 0; i < l->devices[d].row_nr; i++)
			if (l->devices[d].rows[i].account == TARE_ACCOUNT_PROCESS)
				add(*out, &nr, l->devices[d].rows[i].pid, 0);
	TARE_SORT(*out, nr, by_size);
	return nr;
}

void tare_report_explain(const void *of, struct tare_emit *e)
{
	struct process *all;
	int nr = list(&all, of);

	for (int i = 0; i < nr && i < TARE_REPORT_EXPLAINED; i++) {
		TARE_FREED_BY(tare_explain_free) struct tare_explain x = { 0 };

		if (tare_explain_ledger(&x, of, all[i].pid)) {
			tare_emit_open(e, NULL, '{');
			tare_emit_int(e, "pid", all[i].pid);
			tare_explain_print(e, &x);
			tare_emit_close(e);
		}
	}
	free(all);
}
