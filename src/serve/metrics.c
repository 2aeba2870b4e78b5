/* SPDX-License-Identifier: Apache-2.0 */
/* Writes samples as OpenMetrics. */
#include "serve/metrics.h"

#include "base/array.h"
#include "base/text.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum type { GAUGE, COUNTER };

static const struct {
	const char *name;
	enum type type;
	const char *unit, *labels, *help;
} families[TARE_METRIC_NR] = {
#define TARE_METRIC(KEY, name, type, unit, labels, help) { name, type, unit, labels, help },
#include "serve/metrics.def"
};

static const struct {
	const char *name;
	size_t offset;
} labels_known[] = {
#define X(name) { #name, offsetof(struct tare_metric_labels, name) },
	TARE_METRIC_LABELS(X)
#undef X
};

static const char *value_of(const struct tare_metric_labels *labels, const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof(labels_known) / sizeof(labels_known[0]); i++)
		if (strlen(labels_known[i].name) == len && !strncmp(labels_known[i].name, name, len)) {
			const char *value = *(const char *const *)((const char *)labels + labels_known[i].offset);

			return value ? value : "";
		}
	return "";
}

/* A name is one line of plain UTF-8; what is left to escape are quotes and backslashes. */
static void add_value(struct tare_str *out, const char *value)
{
	struct tare_str clean = { 0 };

	tare_text_add_name(&clean, value);
	for (const char *c = tare_str_text(&clean); *c; c++) {
		if (*c == '"' || *c == '\\')
			tare_str_add_char(out, '\\');
		tare_str_add_char(out, *c);
	}
	tare_str_free(&clean);
}

static void add_series(struct tare_str *out, enum tare_metric metric, const struct tare_metric_labels *labels)
{
	const char *name = families[metric].labels;
	char before = '{';

	tare_str_add(out, families[metric].name);
	tare_str_add(out, families[metric].type == COUNTER ? "_total" : "");
	while (*name) {
		size_t len = strcspn(name, ",");

		tare_str_add_char(out, before);
		tare_str_add_n(out, name, len);
		tare_str_add(out, "=\"");
		add_value(out, value_of(labels, name, len));
		tare_str_add_char(out, '"');
		before = ',';
		name += len + (name[len] == ',');
	}
	tare_str_add(out, before == ',' ? "}" : "");
}

static void add(struct tare_metrics *m, enum tare_metric metric, const struct tare_metric_labels *labels, int64_t value,
                bool is_time)
{
	struct tare_metric_family *f = &m->families[metric];
	struct tare_str series = { 0 };
	uint64_t *at;
	bool is_new;

	add_series(&series, metric, labels);
	at = tare_strmap_put(&m->series, tare_str_text(&series), &is_new);
	if (is_new) {
		*at = f->count;
		TARE_APPEND(f->samples, f->count, f->cap) =
			(struct tare_metric_sample){ tare_str_steal(&series), value, is_time };
	} else if (!strcmp(families[metric].unit, "bytes")) {
		f->samples[*at].value += value;
	}
	tare_str_free(&series);
}

void tare_metrics_add(struct tare_metrics *m, enum tare_metric metric, const struct tare_metric_labels *labels,
                      int64_t value)
{
	add(m, metric, labels, value, false);
}

void tare_metrics_add_time(struct tare_metrics *m, enum tare_metric metric, const struct tare_metric_labels *labels,
                           int64_t ns)
{
	add(m, metric, labels, ns, true);
}

static void write_sample(const struct tare_metric_sample *s, struct tare_str *out)
{
	if (s->is_time)
		tare_str_addf(out, "%s %lld.%06lld\n", s->series, (long long)(s->value / 1000000000),
		              (long long)(s->value / 1000 % 1000000));
	else
		tare_str_addf(out, "%s %lld\n", s->series, (long long)s->value);
}

void tare_metrics_write(const struct tare_metrics *m, struct tare_str *out)
{
	static const char *const types[] = { [GAUGE] = "gauge", [COUNTER] = "counter" };

	for (int i = 0; i < TARE_METRIC_NR; i++) {
		tare_str_addf(out, "# TYPE %s %s\n", families[i].name, types[families[i].type]);
		if (*families[i].unit)
			tare_str_addf(out, "# UNIT %s %s\n", families[i].name, families[i].unit);
		tare_str_addf(out, "# HELP %s %s\n", families[i].name, families[i].help);
		for (size_t k = 0; k < m->families[i].count; k++)
			write_sample(&m->families[i].samples[k], out);
	}
	tare_str_add(out, "# EOF\n");
}

void tare_metrics_free(struct tare_metrics *m)
{
	for (int i = 0; i < TARE_METRIC_NR; i++) {
		for (size_t k = 0; k < m->families[i].count; k++)
			free(m->families[i].samples[k].series);
		free(m->families[i].samples);
	}
	tare_strmap_free(&m->series);
	*m = (struct tare_metrics){ 0 };
}
