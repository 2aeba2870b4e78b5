/* SPDX-License-Identifier: Apache-2.0 */
/* The list of recordings, as a page. */
#include "serve/index.h"

#include "base/text.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

static const char head[] =
	"<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">"
	"<title>tare: recordings</title><style>:root{color-scheme:light dark}body{font:1rem/1.5 system-ui,sans-serif;"
	"max-width:60rem;margin:2rem auto;padding:0 1rem}table{border-collapse:collapse;width:100%}th,td{text-align:left;"
	"padding:.3rem .8rem .3rem 0;border-bottom:1px solid #8884}</style><h1>Recordings</h1>";

static void add_path(struct tare_str *out, const char *name)
{
	for (; *name; name++)
		if (isalnum((unsigned char)*name) || strchr("-._", *name))
			tare_str_add_char(out, *name);
		else
			tare_str_addf(out, "%%%02X", (unsigned)(unsigned char)*name);
}

static void add_entry(struct tare_str *out, const struct tare_serve_entry *e)
{
	const char *host = e->follow ? e->follow->host : e->ended.state.host;
	bool is_simulated = e->follow ? e->follow->sim_profile != NULL : e->ended.state.is_simulated;

	tare_str_add(out, "<tr><td><a href=\"r/");
	add_path(out, e->name);
	tare_str_add(out, "\">");
	tare_text_add_markup(out, e->name, SIZE_MAX);
	tare_str_addf(out, "</a><td>%s<td>", tare_serve_entry_state(e));
	tare_text_add_markup(out, host ? host : "", SIZE_MAX);
	tare_str_addf(out, "<td>%s", is_simulated ? "simulated" : "");
}

void tare_serve_index(const struct tare_serve_table *t, struct tare_str *out)
{
	tare_str_add(out, head);
	if (!t->count)
		tare_str_add(out, "<p>There are none yet.");
	else
		tare_str_add(out, "<table><tr><th>Recording<th>State<th>Host<th>");
	for (size_t i = 0; i < t->count; i++)
		add_entry(out, t->entries[i]);
	tare_str_add(out, t->count ? "</table>" : "");
	if (t->left_out)
		tare_str_addf(out, "<p>%zu more are not served.", t->left_out);
	tare_str_add(out, "<p><a href=\"metrics\">metrics</a> for Prometheus</html>\n");
}
