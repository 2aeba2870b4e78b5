/* SPDX-License-Identifier: Apache-2.0 */
/* What CI servers read: JUnit's XML, and the lines that GitHub shows beside the source. */
#include "view/budget.h"

#include "base/text.h"

#include <string.h>

static void add_attribute(struct tare_str *out, const char *name, const char *value)
{
	tare_str_addf(out, " %s=\"", name);
	tare_text_add_markup(out, value, SIZE_MAX);
	tare_str_add_char(out, '"');
}

static void add_case(struct tare_str *out, const struct tare_budget_limit *l, const char *suite)
{
	TARE_FREED_BY(tare_str_free) struct tare_str name = { 0 }, sentence = { 0 };

	tare_budget_name(&name, l);
	tare_budget_sentence(&sentence, l);
	tare_str_add(out, "    <testcase");
	add_attribute(out, "classname", suite);
	add_attribute(out, "name", tare_str_text(&name));
	if (l->file) {
		add_attribute(out, "file", l->file);
		tare_str_addf(out, " line=\"%u\"", l->line);
	}
	tare_str_add(out, l->state == TARE_LIMIT_OK ? ">\n      <system-out>" : ">\n");
	if (l->state == TARE_LIMIT_OK) {
		tare_text_add_markup(out, tare_str_text(&sentence), SIZE_MAX);
		tare_str_add(out, "</system-out>\n");
	} else {
		tare_str_addf(out, "      <%s", l->state == TARE_LIMIT_OVER ? "failure" : "error");
		add_attribute(out, "message", tare_str_text(&sentence));
		tare_str_add(out, "/>\n");
	}
	tare_str_add(out, "    </testcase>\n");
}

void tare_budget_junit(struct tare_str *out, const struct tare_budget *b, const char *suite)
{
	size_t over = tare_budget_count(b, TARE_LIMIT_OVER);
	size_t unknown = tare_budget_count(b, TARE_LIMIT_UNKNOWN);

	tare_str_add(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite "
	                  "name=\"tare check\"");
	tare_str_addf(out, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\">\n", b->nr, over, unknown);
	if (b->is_simulated)
		tare_str_add(out, "    <properties>\n      <property name=\"simulated\" value=\"true\"/>\n    </properties>\n");
	for (size_t i = 0; i < b->nr; i++)
		add_case(out, &b->limits[i], suite);
	tare_str_add(out, "  </testsuite>\n</testsuites>\n");
}

/* A line of a log is steered by "%", line ends and, in a property, ":" and ",": GitHub's rules. */
static void add_escaped(struct tare_str *out, const char *text, bool is_property)
{
	TARE_FREED_BY(tare_str_free) struct tare_str name = { 0 };

	tare_text_add_name(&name, text);
	for (const char *p = tare_str_text(&name); *p; p++)
		if (*p == '%' || (is_property && (*p == ':' || *p == ',')))
			tare_str_addf(out, "%%%02X", (unsigned char)*p);
		else
			tare_str_add_char(out, *p);
}

static const char *without_folder(const char *file, const char *folder)
{
	size_t len = folder ? strlen(folder) : 0;

	return len && !strncmp(file, folder, len) && file[len] == '/' ? file + len + 1 : file;
}

void tare_budget_github(struct tare_str *out, const struct tare_budget *b, const char *folder)
{
	for (size_t i = 0; i < b->nr; i++) {
		const struct tare_budget_limit *l = &b->limits[i];
		const char *file = l->source ? l->source : l->file;
		unsigned long long line = l->source ? l->source_line : l->line;
		TARE_FREED_BY(tare_str_free) struct tare_str sentence = { 0 };

		if (l->state == TARE_LIMIT_OK)
			continue;
		tare_str_add(out, "::error ");
		if (file) {
			tare_str_add(out, "file=");
			add_escaped(out, without_folder(file, folder), true);
			tare_str_addf(out, ",line=%llu,", line ? line : 1);
		}
		tare_str_add(out, "title=tare check::");
		tare_budget_sentence(&sentence, l);
		add_escaped(out, tare_str_text(&sentence), false);
		tare_str_add_char(out, '\n');
	}
}
