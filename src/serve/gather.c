/* SPDX-License-Identifier: Apache-2.0 */
/* Reads GPUs and recordings in turn for the server. */
#include "serve/gather.h"

#include "base/now.h"

enum {
	SHARE = 20,     /* reading takes one part of so many of the time */
	READ_MS = 2000, /* of recordings that ended, in one turn: a scrape waits for it */
};
#define SECOND INT64_C(1000000000)

void tare_gather_begin(struct tare_gather *g, const struct tare_operands *folders)
{
	*g = (struct tare_gather){ .folders = folders };
	g->found.folders = folders;
	g->found.is_only_folders = folders->count > 0;
	g->found.is_only_alive = true;
}

static void read_ended(struct tare_gather *g, bool is_whole)
{
	int64_t until = tare_now_ns(CLOCK_MONOTONIC) + READ_MS * INT64_C(1000000);

	for (size_t i = 0; i < g->table.count; i++) {
		struct tare_serve_entry *e = g->table.entries[i];

		if (e->follow || e->is_read)
			continue;
		if (!is_whole && tare_now_ns(CLOCK_MONOTONIC) > until)
			return;
		tare_serve_ended_read(&e->ended, e->path);
		e->is_read = true;
	}
}

void tare_gather_turn(struct tare_gather *g, bool is_whole)
{
	static const struct tare_top_wish wish = { TARE_TOP_BY_PID, "" };
	int64_t now = tare_now_ns(CLOCK_MONOTONIC), before = tare_now_ns(CLOCK_THREAD_CPUTIME_ID);

	if (g->next_ns > now)
		return;
	g->turn_ns = now;
	g->realtime_ns = tare_now_ns(CLOCK_REALTIME);
	tare_find_turn(&g->found);
	tare_top_machine_turn(&g->machine, &g->found, now);
	for (size_t i = 0; i < g->found.count; i++)
		tare_follow_turn(g->found.items[i], now, is_whole);
	tare_serve_table_turn(&g->table, &g->found, g->folders);
	read_ended(g, is_whole);
	tare_top_tree_build(&g->tree, &g->found, &g->machine, &wish, now);
	g->cost_ns = tare_now_ns(CLOCK_THREAD_CPUTIME_ID) - before;
	tare_str_cut(&g->text, 0);
	tare_gather_tell(g, &g->text);
	now = tare_now_ns(CLOCK_MONOTONIC);
	g->next_ns = now + (g->cost_ns * SHARE > SECOND ? g->cost_ns * SHARE : SECOND);
}

void tare_gather_free(struct tare_gather *g)
{
	tare_top_tree_free(&g->tree);
	tare_top_machine_free(&g->machine);
	tare_serve_table_free(&g->table);
	tare_finder_free(&g->found);
	tare_str_free(&g->text);
	*g = (struct tare_gather){ 0 };
}
