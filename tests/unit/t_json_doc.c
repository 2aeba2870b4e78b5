/* SPDX-License-Identifier: Apache-2.0 */
/* docs/JSON.md and the programs that write JSON must say the same. */
#include "base/map.h"
#include "golden.h"
#include "sample_ledger.h"
#include "sample_serving.h"
#include "test.h"
#include "view/budget.h"
#include "view/by.h"
#include "view/diff.h"
#include "view/extent.h"
#include "view/ledger_view.h"

#include <stdlib.h>

static void collect(struct tare_strmap *keys, const char *prefix, const struct tare_json_value *v)
{
	for (const struct tare_json_value *m = v->first; m; m = m->next) {
		char path[512];

		if (snprintf(path, sizeof(path), "%s%s%s", prefix, m->key ? "." : "[]", m->key ? m->key : "") >=
		    (int)sizeof(path))
			continue;
		if (m->key)
			*tare_strmap_put(keys, path, NULL) = 1;
		collect(keys, path, m);
	}
}

/* The keys of a JSON text, as paths: ".devices[].accounts[].low". */
static void collect_text_below(struct tare_strmap *keys, const char *prefix, const char *text, size_t len)
{
	const struct tare_json_value *root;
	struct tare_arena arena = { 0 };
	struct tare_err err;

	if (tare_json_parse(&arena, text, len, &root, &err))
		test_fail(__FILE__, __LINE__, "%s in\n%.*s", err.text, (int)len, text);
	collect(keys, prefix, root);
	tare_arena_free(&arena);
}

static void collect_text(struct tare_strmap *keys, const char *text, size_t len)
{
	collect_text_below(keys, "", text, len);
}

/* The n-th ```json block of the page, from 0; NULL after the last. */
static const char *block(const char *page, int n, size_t *len)
{
	static const char fence[] = "```json\n";
	const char *at = page;

	for (int i = 0; (at = strstr(at, fence)); i++) {
		at += sizeof(fence) - 1;
		if (i < n)
			continue;
		*len = (size_t)(strstr(at, "```") - at);
		return at;
	}
	return NULL;
}

static void check_subset(const struct tare_strmap *a, const struct tare_strmap *b, const char *what)
{
	const struct tare_strmap_slot *slot;

	for (size_t at = 0; (slot = tare_strmap_next(a, &at));)
		if (!tare_strmap_get(b, slot->key))
			test_fail(__FILE__, __LINE__, "%s: %s", what, slot->key);
}

static void check_block(int n, const struct tare_str *written)
{
	struct tare_strmap documented = { 0 }, emitted = { 0 };
	char *page = golden_read_source("docs/JSON.md");
	size_t len = 0;
	const char *text = block(page, n, &len);

	CHECK(text);
	collect_text(&documented, text, len);
	collect_text(&emitted, tare_str_text(written), written->len);
	check_subset(&emitted, &documented, "written, but not in docs/JSON.md");
	check_subset(&documented, &emitted, "in docs/JSON.md, but not written");
	tare_strmap_free(&documented);
	tare_strmap_free(&emitted);
	free(page);
}

enum {
	LEDGER,
	ALSO,
	BY,
	BY_LINE,
	BY_EMPTY,
	BY_DEVICE,
	BY_TIME,
	BY_RESIDUE,
	BY_GRAPH,
	BY_POOL,
	BY_STREAM,
	BY_SERVING,
	BY_CATEGORY,
	BY_TENSOR,
	BY_MODULE,
	BY_RANK,
	BY_PHASE,
	DROPPED,
	COST_TIME,
	DIFF,
	CHECKS,
};

TEST(every_block_of_the_page_is_json)
{
	char *page = golden_read_source("docs/JSON.md");
	struct tare_strmap keys = { 0 };
	size_t len;
	int n = 0;

	for (const char *text; (text = block(page, n, &len)); n++)
		collect_text(&keys, text, len);
	CHECK(n > DIFF);
	tare_strmap_free(&keys);
	free(page);
}

/* "## `--by X`": what a line of the page is the heading of, with its end; NULL: of nothing. */
static const char *heading(const char *line, size_t *len)
{
	size_t marks = strspn(line, "#");

	if (!marks || line[marks] != ' ')
		return NULL;
	*len = strcspn(line + marks + 1, "\n");
	return line + marks + 1;
}

/* Every key of the page as "HEADING\tPATH". */
static void collect_page(struct tare_strmap *keys, const char *page)
{
	const char *at = page;
	char prefix[256] = "";
	size_t len = 0;
	int n = 0;

	for (const char *text; (text = block(page, n, &len)); n++) {
		for (; at < text; at += strcspn(at, "\n") + 1) {
			size_t head_len;
			const char *head = heading(at, &head_len);

			if (head)
				snprintf(prefix, sizeof(prefix), "%.*s\t", (int)head_len, head);
		}
		collect_text_below(keys, prefix, text, len);
		at = text + len;
	}
}

/* "HEADING\tPATH\tNAME NAME": members of what is at PATH. Returns how many there are. */
static int check_old_line(const struct tare_strmap *now, const char *line)
{
	const char *names = strchr(strchr(line, '\t') + 1, '\t') + 1;
	int path_len = (int)(names - 1 - line), count = 0;

	for (size_t n; *names && *names != '\n'; names += n + (names[n] == ' '), count++) {
		char key[512];

		n = strcspn(names, " \n");
		snprintf(key, sizeof(key), "%.*s.%.*s", path_len, line, (int)n, names);
		if (!tare_strmap_get(now, key))
			test_fail(__FILE__, __LINE__, "in 0.1.0, but no more: %s", key);
	}
	return count;
}

/*
 * Members are only added: whoever reads a recording's JSON since 0.1.0 still can. The page says what is written, as the
 * other tests here hold it to.
 */
TEST(every_key_of_0_1_0_is_still_there)
{
	char *page = golden_read_source("docs/JSON.md");
	char *old = golden_read_source("tests/golden/json-keys-0.1.0.txt");
	struct tare_strmap now = { 0 };
	int count = 0;

	collect_page(&now, page);
	for (const char *line = old; *line; line += strcspn(line, "\n") + 1)
		count += check_old_line(&now, line);
	CHECK(count > 600);
	tare_strmap_free(&now);
	free(page);
	free(old);
}

TEST(a_ledger_has_the_documented_keys)
{
	struct tare_loss loss = {
		.pid = 431, .program = "train", .tid = 432, .records = 17, .reason = "disk-full", .why = ""
	};
	struct tare_growth growth = { .pid = 431,
		                          .program = "python3",
		                          .what = "tensors",
		                          .line = "/home/me/train.py:87 in step",
		                          .short_line = "train.py:87 in step",
		                          .stack = "/home/me/train.py:87 in step < "
		                                   "/home/me/train.py:99 in <module>",
		                          .module = "layer4.2.conv3",
		                          .has_steps = true,
		                          .bytes = 94371840,
		                          .confidence = 0.99 };
	struct tare_ledger ledger = *sample_card();
	struct tare_str out = { 0 };
	struct tare_emit e;

	ledger.growths = &growth;
	ledger.growth_nr = 1;
	ledger.losses = &loss;
	ledger.loss_nr = 1;
	tare_emit_begin(&e, TARE_EMIT_JSON, &out);
	tare_ledger_json(&e, &ledger);
	tare_emit_end(&e);
	check_block(LEDGER, &out);
	tare_str_free(&out);
}

static void check_by(enum tare_by by, int n, const struct tare_ledger *ledger)
{
	struct tare_str out = { 0 };
	struct tare_emit e;

	tare_emit_begin(&e, TARE_EMIT_JSON, &out);
	tare_by_show(&e, &(struct tare_by_ask){ by, &ledger, 1, -1, 0 });
	tare_emit_end(&e);
	check_block(n, &out);
	tare_str_free(&out);
}

TEST(groups_have_the_documented_keys)
{
	check_by(TARE_BY_OWNER, BY, sample_train_peak());
	check_by(TARE_BY_LINE, BY_LINE, sample_train_peak());
	check_by(TARE_BY_TENSOR, BY_EMPTY, sample_train_peak());
	check_by(TARE_BY_DEVICE, BY_DEVICE, sample_pair());
	check_by(TARE_BY_RESIDUE, BY_RESIDUE, sample_train_end());
	check_by(TARE_BY_GRAPH, BY_GRAPH, sample_graphs());
	check_by(TARE_BY_POOL, BY_POOL, sample_streams());
	check_by(TARE_BY_STREAM, BY_STREAM, sample_streams());
	check_by(TARE_BY_RANK, BY_RANK, sample_ranks());
}

TEST(a_server_has_the_documented_keys)
{
	static const int64_t driver[SERVING_GRAPHS] = { 2, 0, 2, 2 };
	struct sample_serving sample;

	sample_serving_make(&sample, driver);
	check_by(TARE_BY_SERVING, BY_SERVING, &sample.ledger);
}

TEST(a_course_has_the_documented_keys)
{
	struct tare_ledger ledger = *sample_train_peak();
	struct tare_device_ledger device = ledger.devices[0];
	int64_t used[] = { 0, -1 };

	device.timeline = (struct tare_timeline){ .to_ns = 100, .width_ns = 50, .used = used, .nr = 2 };
	ledger.devices = &device;
	ledger.device_nr = 1;
	check_by(TARE_BY_TIME, BY_TIME, &ledger);
}

TEST(tensors_have_the_documented_keys)
{
	struct tare_module_row module = { .path = "conv1", .name = "conv1", .class = "Conv2d" };
	struct tare_tensor_row row = {
		.name = "conv1.weight", .line = "a.py:1", .count = 1, .bytes = 4, .pid = 431, .module = &module
	};
	struct tare_device_ledger device = { .tensors = { &row, 1 } };
	const struct tare_ledger ledger = { .at = "peak", .devices = &device, .device_nr = 1 };

	check_by(TARE_BY_CATEGORY, BY_CATEGORY, &ledger);
	check_by(TARE_BY_TENSOR, BY_TENSOR, &ledger);
	check_by(TARE_BY_MODULE, BY_MODULE, &ledger);
}

TEST(phases_have_the_documented_keys)
{
	struct tare_phase_part part = { TARE_ACCOUNT_GRAPH, 2 << 20 };
	struct tare_phase_on_device device = { .repeats = 1, .parts = &part, .part_nr = 1 };
	struct tare_phase_row row = { .name = "capture max_iter=800",
		                          .path = "capture max_iter=800",
		                          .source = "tare.h",
		                          .program = "solver",
		                          .devices = &device,
		                          .device_nr = 1 };
	const struct tare_ledger ledger = { .phases = &row, .phase_nr = 1 };

	check_by(TARE_BY_PHASE, BY_PHASE, &ledger);
}

TEST(time_has_the_documented_keys)
{
	struct tare_time_row row = { .account = TARE_ACCOUNT_CONTEXT, .api = "cuCtxCreate", .calls = 1 };
	struct tare_time_rows rows = { .rows = &row, .count = 1 };
	struct tare_str out = { 0 };
	struct tare_emit e;

	tare_emit_begin(&e, TARE_EMIT_JSON, &out);
	tare_emit_uint(&e, "tare", 1);
	tare_time_view(&e, &rows);
	tare_emit_open(&e, "degraded", '[');
	tare_emit_close(&e);
	tare_emit_end(&e);
	check_block(COST_TIME, &out);
	tare_str_free(&out);
}

TEST(a_diff_has_the_documented_keys)
{
	struct tare_diff d = { .by = -1 };
	const struct tare_json_value *root;
	struct tare_arena arena = { 0 };
	struct tare_str out = { 0 };
	struct tare_emit e;

	tare_emit_begin(&e, TARE_EMIT_JSON, &out);
	tare_ledger_json(&e, sample_train_peak());
	tare_emit_end(&e);
	CHECK_INT(tare_json_parse(&arena, out.data, out.len, &root, NULL), 0);
	CHECK_INT(tare_diff_read(&d.before, root, -1, NULL, NULL), 0);
	CHECK_INT(tare_diff_read(&d.after, root, -1, "peak", NULL), 0);
	tare_diff_build(&d);
	tare_str_cut(&out, 0);
	tare_emit_begin(&e, TARE_EMIT_JSON, &out);
	tare_diff_show(&e, &d);
	tare_emit_end(&e);
	check_block(DIFF, &out);
	tare_diff_free(&d);
	tare_arena_free(&arena);
	tare_str_free(&out);
}

TEST(a_check_has_the_documented_keys)
{
	struct tare_budget b = { 0 };
	struct tare_str out = { 0 };
	struct tare_emit e;

	CHECK_INT(tare_budget_add(&b, "activation=2GiB", "memory.budget", 3, NULL), 0);
	tare_emit_begin(&e, TARE_EMIT_JSON, &out);
	tare_emit_simulated(&e, false);
	tare_budget_show(&e, &b);
	tare_emit_end(&e);
	check_block(CHECKS, &out);
	tare_budget_free(&b);
	tare_str_free(&out);
}

TEST(a_moment_whose_events_went_has_the_documented_keys)
{
	struct tare_extent_row row = { .name = "NVIDIA H200" };
	struct tare_extent_exact exact = { .at = "1s", .what = "state", .device = -1, .used = -1 };
	struct tare_str out = { 0 };
	struct tare_emit e;

	tare_emit_begin(&e, TARE_EMIT_JSON, &out);
	tare_extent_show(&e, &(struct tare_extent_view){
							 .at = "20s", .rows = &row, .row_nr = 1, .exacts = &exact, .exact_nr = 1 });
	tare_emit_end(&e);
	check_block(DROPPED, &out);
	tare_str_free(&out);
}

/* Leaves and `unexplained` sum to `used` in what a script reads, not only in memory. */
TEST(a_ledger_read_back_balances)
{
	const struct tare_json_value *root, *device;
	struct tare_arena arena = { 0 };
	struct tare_str out = { 0 };
	struct tare_emit e;

	tare_emit_begin(&e, TARE_EMIT_JSON, &out);
	tare_ledger_json(&e, sample_pair());
	tare_emit_end(&e);
	CHECK_INT(tare_json_parse(&arena, out.data, out.len, &root, NULL), 0);
	for (device = tare_json_get(root, "devices")->first; device; device = device->next) {
		const struct tare_json_value *row = tare_json_get(device, "accounts")->first;
		int64_t used, sum, bytes;

		CHECK(tare_json_get_i64(device, "used_bytes", &used));
		CHECK(tare_json_get_i64(device, "unexplained_bytes", &sum));
		for (; row; row = row->next)
			if (tare_json_get_bool(row, "leaf", false) && tare_json_get_i64(row, "bytes", &bytes))
				sum += bytes;
		CHECK_INT(sum, used);
	}
	tare_arena_free(&arena);
	tare_str_free(&out);
}
