/* SPDX-License-Identifier: Apache-2.0 */
/* The data of a page: the report as tare report --json has it, and the rows of its views. */
#include "view/page.h"

#include "base/emit.h"
#include "base/xalloc.h"
#include "view/by.h"
#include "view/ledger_view.h"
#include "view/serving.h"

#include <stdlib.h>

/* Of what there may be a million, the first and largest; of servers with more graphs, and of more phases, nothing. */
enum { TENSORS_MAX = 400, SEGMENTS_MAX = 4000, PHASES_MAX = 2000, SERVED_GRAPHS_MAX = 2000 };

/* Lines and stacks are those of the moments. */
static const enum tare_by views[] = {
	TARE_BY_ACCOUNT, TARE_BY_OWNER,  TARE_BY_LIBRARY, TARE_BY_CATEGORY, TARE_BY_MODULE, TARE_BY_TENSOR,
	TARE_BY_POOL,    TARE_BY_STREAM, TARE_BY_GRAPH,   TARE_BY_RANK,     TARE_BY_PHASE,  TARE_BY_SERVING,
};

enum { VIEWS = sizeof(views) / sizeof(views[0]) };

static void cut(int *count, int most)
{
	if (*count > most)
		*count = most;
}

/* The same ledger, whose longest tables are shorter: for views that show rows and no sums. */
struct shortened {
	struct tare_ledger ledger;
	struct tare_device_ledger *devices;
	struct tare_host_ledger *hosts;
	struct tare_graph *graphs;
};

static void shorten(struct shortened *s, const struct tare_ledger *l)
{
	s->ledger = *l;
	s->devices = tare_xcalloc((size_t)l->device_nr + 1, sizeof(*s->devices));
	s->hosts = tare_xcalloc((size_t)l->host_nr + 1, sizeof(*s->hosts));
	for (int i = 0; i < l->device_nr; i++) {
		s->devices[i] = l->devices[i];
		cut(&s->devices[i].tensors.count, TENSORS_MAX);
		cut(&s->devices[i].segment_nr, SEGMENTS_MAX);
	}
	for (int i = 0; i < l->host_nr; i++) {
		s->hosts[i] = l->hosts[i];
		cut(&s->hosts[i].blocks.count, TENSORS_MAX);
	}
	s->graphs = tare_page_largest_graphs(l, &s->ledger.graph_nr);
	s->ledger.graphs = s->graphs;
	s->ledger.devices = s->devices;
	s->ledger.hosts = s->hosts;
}

static void discard(struct shortened *s)
{
	free(s->devices);
	free(s->hosts);
	free(s->graphs);
}

static bool is_shown(const struct tare_by_ask *ask, int i)
{
	if (ask->by == TARE_BY_PHASE && ask->ledgers[0]->phase_nr > PHASES_MAX)
		return false;
	/* Graphs are those of the whole recording, too. */
	if (i && (ask->by == TARE_BY_GRAPH || tare_by_infos[ask->by].flags & (TARE_BY_OF_RECORDING | TARE_BY_AT_PEAK)))
		return false;
	if (ask->by == TARE_BY_SERVING)
		return ask->ledgers[0]->graph_nr <= SERVED_GRAPHS_MAX && tare_serving_is_found(ask->ledgers[0]);
	return tare_by_is_any(ask);
}

/* What is in the rows of a server, in words. */
static void add_coming(struct tare_emit *e)
{
	tare_emit_open(e, "coming", '[');
	for (unsigned i = 0; i < TARE_COMING_NR; i++) {
		tare_emit_open(e, NULL, '{');
		tare_emit_str(e, "key", tare_coming_key(i));
		tare_emit_str(e, "label", tare_coming_label(i));
		tare_emit_close(e);
	}
	tare_emit_close(e);
}

/* [{"at": "peak", "by": "owner", "rows": […]}, …] */
static void add_views(struct tare_emit *e, const struct tare_ledger *l, int i)
{
	struct shortened s;
	const struct tare_ledger *shown = l;

	shorten(&s, l);
	for (int v = 0; v < VIEWS; v++) {
		struct tare_by_ask ask = { .by = views[v], .ledgers = &shown, .ledger_nr = 1, .pid = -1 };

		shown = ask.by == TARE_BY_TENSOR || ask.by == TARE_BY_POOL || ask.by == TARE_BY_GRAPH ? &s.ledger : l;
		if (!is_shown(&ask, i))
			continue;
		tare_emit_open(e, NULL, '{');
		tare_emit_str(e, "at", l->at);
		tare_by_show(e, &ask);
		tare_emit_close(e);
	}
	discard(&s);
}

static void add_report(struct tare_emit *e, const struct tare_page *p)
{
	tare_emit_open(e, "report", '{');
	tare_ledger_json(e, &p->ledgers[0]);
	tare_emit_open(e, "also", '[');
	for (int i = 1; i < p->ledger_nr; i++) {
		tare_emit_open(e, NULL, '{');
		tare_ledger_json(e, &p->ledgers[i]);
		tare_emit_close(e);
	}
	tare_emit_close(e);
	tare_emit_close(e);
}

void tare_page_data(struct tare_str *out, const struct tare_page *p)
{
	struct tare_emit e;

	tare_emit_begin(&e, TARE_EMIT_JSON, out);
	e.json.is_pretty = false;
	tare_emit_str(&e, "title", p->title);
	add_report(&e, p);
	tare_emit_open(&e, "views", '[');
	for (int i = 0; i < p->ledger_nr; i++)
		add_views(&e, &p->ledgers[i], i);
	tare_emit_close(&e);
	add_coming(&e);
	tare_emit_open(&e, "time", '{');
	tare_page_time(&e, "account", p->by_account, p->ledgers);
	if (p->by_category)
		tare_page_time(&e, "category", p->by_category, p->ledgers);
	tare_emit_close(&e);
	tare_page_stacks(&e, p);
	tare_page_sizes(&e, p);
	tare_page_pool(&e, p);
	tare_page_graphs(&e, p->ledgers);
	tare_page_evidence(&e, p);
	tare_page_host(&e, p);
	tare_page_steps(&e, p);
	tare_emit_end(&e);
}
