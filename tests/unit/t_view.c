/* SPDX-License-Identifier: Apache-2.0 */
#include "golden.h"
#include "sample_ledger.h"
#include "base/text.h"
#include "test.h"
#include "view/by.h"
#include "view/ledger_view.h"
#include "view/graph.h"
#include "view/pool.h"

#include <stdlib.h>

static const struct tare_text_style terminal = { .width = 80, .is_utf8 = true };
static const struct tare_text_style plain = { .width = 80 };

static void ledger_text(struct tare_str *out, const struct tare_ledger *const *ledgers, int n,
                        const struct tare_text_style *style)
{
	struct tare_emit e;

	tare_emit_begin(&e, TARE_EMIT_TEXT, out);
	e.style = *style;
	tare_ledger_text(&e, ledgers, n);
	tare_emit_end(&e);
}

static void check_screen(const char *name, const struct tare_ledger *const *ledgers, int n,
                         const struct tare_text_style *style)
{
	struct tare_str out = { 0 };

	ledger_text(&out, ledgers, n, style);
	golden_check(name, tare_str_text(&out));
	tare_str_free(&out);
}

TEST(screen_of_a_training_run)
{
	const struct tare_ledger *both[] = { sample_train_peak(), sample_train_end() };

	check_screen("train.txt", both, 2, &terminal);
	check_screen("train.ascii.txt", both, 2, &plain);
}

/* What counts mean stands in the first row that has them, or below where a screen has no room for that. */
TEST(counts_are_told_on_any_screen)
{
	const struct tare_ledger *both[] = { sample_train_peak(), sample_train_end() };

	for (int width = 40; width <= 200; width += 10) {
		struct tare_text_style style = { .width = width, .is_utf8 = true, .is_screen = true };
		struct tare_str out = { 0 };

		ledger_text(&out, both, 2, &style);
		CHECK_INT(!strstr(tare_str_text(&out), "): 412 at peak · 433 at end"), width >= 80);
		CHECK_INT(!strstr(tare_str_text(&out), " (412 at peak · 433 at end)"), width < 80);
		tare_str_free(&out);
	}
}

TEST(screen_has_colours_only_when_asked)
{
	const struct tare_text_style colour = { .width = 80, .is_utf8 = true, .is_colour = true };
	const struct tare_ledger *one[] = { sample_train_end() };
	struct tare_str out = { 0 };

	ledger_text(&out, one, 1, &colour);
	CHECK_HAS(tare_str_text(&out), "\033[1m");
	tare_str_cut(&out, 0);
	ledger_text(&out, one, 1, &terminal);
	CHECK(!strchr(tare_str_text(&out), '\033'));
	tare_str_free(&out);
}

TEST(screen_of_two_processes_and_three_gpus)
{
	const struct tare_ledger *one[] = { sample_pair() };

	check_screen("pair.txt", one, 1, &terminal);
}

TEST(screen_on_a_smaller_card)
{
	const struct tare_ledger *one[] = { sample_card() }, *other[] = { sample_card_of_profile() };

	check_screen("card.txt", one, 1, &terminal);
	check_screen("card.profile.txt", other, 1, &terminal);
}

TEST(screen_without_a_counter)
{
	const struct tare_ledger *one[] = { sample_uncounted() };

	check_screen("uncounted.txt", one, 1, &terminal);
}

TEST(screen_when_nobody_opened_a_gpu)
{
	const struct tare_ledger *one[] = { sample_idle() };

	check_screen("idle.txt", one, 1, &terminal);
}

/* No line is wider than the terminal, whatever the terminal. */
TEST(screen_keeps_to_its_width)
{
	const struct tare_ledger *ledgers[] = { sample_pair(), sample_train_peak(), sample_train_end() };

	for (int width = 80; width <= 200; width += 7) {
		struct tare_text_style style = { .width = width, .is_utf8 = true };

		for (int i = 0; i < 3; i++) {
			struct tare_str out = { 0 };
			char *at, *line;

			ledger_text(&out, &ledgers[i], 1, &style);
			at = out.data;
			while ((line = strsep(&at, "\n")))
				if ((int)tare_str_columns(line) > width)
					test_fail(__FILE__, __LINE__, "%d < \"%s\"", width, line);
			tare_str_free(&out);
		}
	}
}

/* What is folded is added up: the rows of a device and its rest give `used` again. */
TEST(screen_and_csv_balance)
{
	const struct tare_ledger *ledgers[] = { sample_train_peak(), sample_train_end(), sample_pair() };

	for (int l = 0; l < 3; l++)
		for (int d = 0; d < ledgers[l]->device_nr; d++) {
			const struct tare_device_ledger *dev = &ledgers[l]->devices[d];
			int64_t sum = dev->unexplained;

			for (int i = 0; i < dev->row_nr; i++)
				sum += dev->rows[i].leaf ? dev->rows[i].bytes : 0;
			CHECK_INT(sum, dev->used);
		}
}

static void by_text(struct tare_str *out, enum tare_by by, const struct tare_ledger *const *ledgers, int n)
{
	struct tare_emit e;

	tare_emit_begin(&e, TARE_EMIT_TEXT, out);
	tare_by_show(&e, &(struct tare_by_ask){ by, ledgers, n, -1, 0 });
	tare_emit_end(&e);
}

static void graph_text(struct tare_str *out, const struct tare_ledger *ledger)
{
	by_text(out, TARE_BY_GRAPH, &ledger, 1);
}

TEST(graphs_that_look_alike_are_one_line)
{
	struct tare_str out = { 0 };

	graph_text(&out, sample_graphs());
	golden_check("graphs.txt", tare_str_text(&out));
	tare_str_cut(&out, 0);
	graph_text(&out, sample_train_end());
	CHECK_STR(tare_str_text(&out), "graphs captured: 0\n");
	tare_str_free(&out);
}

/* A screen, however many graphs differ. */
TEST(graphs_keep_to_a_screen)
{
	struct tare_ledger ledger = *sample_graphs();
	struct tare_graph graphs[500];
	struct tare_str out = { 0 };
	int lines = 0;

	for (int i = 0; i < 500; i++) {
		graphs[i] = ledger.graphs[i % 20];
		graphs[i].number = (uint64_t)i + 1;
		graphs[i].nodes += (uint64_t)i;
	}
	ledger.graphs = graphs;
	ledger.graph_nr = 500;
	graph_text(&out, &ledger);
	for (const char *at = tare_str_text(&out); *at; at++)
		lines += *at == '\n';
	CHECK(lines <= 24);
	CHECK_HAS(tare_str_text(&out), "9–496");
	CHECK_HAS(tare_str_text(&out), "different ones");
	CHECK_HAS(tare_str_text(&out), "10,000.0"); /* the sum of all */
	tare_str_free(&out);
}

static void by_csv(struct tare_str *out, enum tare_by by, const struct tare_ledger *ledger)
{
	struct tare_emit e;

	tare_emit_begin(&e, TARE_EMIT_CSV, out);
	tare_by_show(&e, &(struct tare_by_ask){ by, &ledger, 1, -1, 0 });
	tare_emit_end(&e);
}

/* The parts lie end to end, and the last ends where the recording does. */
TEST(a_course_over_time)
{
	struct tare_ledger ledger = *sample_train_peak();
	struct tare_device_ledger device = ledger.devices[0];
	int64_t used[] = { 1 << 20, 8 << 20, -1 }, host[] = { 0, 4096 };
	const struct tare_ledger *one = &ledger;
	struct tare_str out = { 0 };

	device.timeline = (struct tare_timeline){ .to_ns = 100, .width_ns = 33, .used = used, .nr = 3 };
	device.peak_t_ns = 50000000;
	device.peak_used = 8 << 20;
	ledger.host_timeline = (struct tare_timeline){ .to_ns = 100, .width_ns = 50, .used = host, .nr = 2 };
	ledger.devices = &device;
	ledger.device_nr = 1;
	by_csv(&out, TARE_BY_TIME, &ledger);
	CHECK_STR(tare_str_text(&out), "device,label,from_ns,to_ns,bytes\n"
	                               "0,NVIDIA H200,0,33,1048576\n"
	                               "0,NVIDIA H200,33,66,8388608\n"
	                               "0,NVIDIA H200,66,100,\n"
	                               ",CPU,0,50,0\n"
	                               ",CPU,50,100,4096\n");
	tare_str_cut(&out, 0);
	by_text(&out, TARE_BY_TIME, &one, 1);
	CHECK_HAS(tare_str_text(&out), "\n0 s ▁▁▁▁▁");
	CHECK_HAS(tare_str_text(&out), "▁████");
	CHECK_HAS(tare_str_text(&out), " 100 ns\npeak 8.0 MiB at 50 ms\n\nCPU  tensors: ");
	tare_str_free(&out);
}

TEST(csv_of_both_instants)
{
	const struct tare_ledger *both[] = { sample_train_peak(), sample_train_end() };
	struct tare_str out = { 0 };
	struct tare_emit e;

	tare_emit_begin(&e, TARE_EMIT_CSV, &out);
	tare_ledger_csv(&e, both, 2);
	tare_emit_end(&e);
	golden_check("train.csv", tare_str_text(&out));
	tare_str_free(&out);
}

static void check_json(const char *name, const struct tare_ledger *ledger, int by)
{
	struct tare_str out = { 0 };
	struct tare_emit e;

	tare_emit_begin(&e, TARE_EMIT_JSON, &out);
	tare_ledger_json(&e, ledger);
	if (by >= 0)
		tare_by_show(&e, &(struct tare_by_ask){ (enum tare_by)by, &ledger, 1, -1, 0 });
	tare_emit_end(&e);
	tare_str_add_char(&out, '\n');
	golden_check(name, tare_str_text(&out));
	tare_str_free(&out);
}

TEST(json_of_a_ledger)
{
	check_json("train.json", sample_train_peak(), -1);
	check_json("pair.json", sample_pair(), TARE_BY_PROCESS);
	check_json("uncounted.json", sample_uncounted(), TARE_BY_TENSOR);
}

TEST(by_groups_sum_to_what_is_explained)
{
	const struct tare_ledger *ledger = sample_pair();

	for (int by = 0; by < TARE_BY_NR; by++) {
		struct tare_by_rows rows;
		int64_t sum = 0;

		tare_by_build(&rows, (enum tare_by)by, ledger);
		for (size_t i = 0; i < rows.count; i++)
			if (rows.rows[i].device == &ledger->devices[0])
				sum += rows.rows[i].bytes;
		if (tare_by_infos[by].events)
			CHECK_INT(rows.count, 0);
		else
			CHECK_INT(sum, ledger->devices[0].used - (uint64_t)ledger->devices[0].unexplained);
		tare_by_free(&rows);
	}
}

TEST(by_on_the_screen)
{
	const struct tare_ledger *both[] = { sample_train_peak(), sample_train_end() };
	struct tare_str out = { 0 };

	by_text(&out, TARE_BY_OWNER, both, 2);
	by_text(&out, TARE_BY_ACCOUNT, both, 2);
	by_text(&out, TARE_BY_LINE, both, 2);
	by_text(&out, TARE_BY_STACK, both, 2);
	by_text(&out, TARE_BY_TENSOR, both, 2);
	golden_check("train.by.txt", tare_str_text(&out));
	tare_str_free(&out);
}

/* Where every device has a counter, what is explained and what is not sum to what is used. */
TEST(devices_line_by_line)
{
	const struct tare_ledger *ledger = sample_pair();
	struct tare_ledger end = *ledger;
	struct tare_str out = { 0 };

	by_text(&out, TARE_BY_DEVICE, &ledger, 1);
	CHECK_HAS(tare_str_text(&out), "EXPLAINED  UNEXPLAINED");
	CHECK(!strstr(tare_str_text(&out), "all"));
	tare_str_cut(&out, 0);
	end.at = "end";
	end.t_ns = 7;
	ledger = &end;
	by_text(&out, TARE_BY_DEVICE, &ledger, 1);
	CHECK_HAS(tare_str_text(&out), "\nall");
	tare_str_free(&out);
}

/* The row of `label`, up to its end. */
static char *row_of(const char *text, const char *label)
{
	const char *at = strstr(text, label);

	return at ? strndup(at, strcspn(at, "\n")) : strdup("");
}

/* Streams are weighed at the first instant and, records being lost, inferred at the second; or the other way round. */
static void check_weakest(enum tare_evidence first, enum tare_evidence second)
{
	struct tare_row rows[2][2];
	struct tare_device_ledger devices[2] = { 0 };
	struct tare_ledger ledgers[2] = { 0 };
	const struct tare_ledger *both[] = { &ledgers[0], &ledgers[1] };
	struct tare_str out = { 0 };
	char *row;

	for (int i = 0; i < 2; i++) {
		rows[i][0] = (struct tare_row){ .path = "process:7",
			                            .label = "a (pid 7)",
			                            .parent = -1,
			                            .account = TARE_ACCOUNT_PROCESS,
			                            .pid = 7,
			                            .bytes = 9 << 20,
			                            .evidence = i ? second : first };
		rows[i][1] = rows[i][0];
		rows[i][1].path = "process:7/streams";
		rows[i][1].label = "streams";
		rows[i][1].account = TARE_ACCOUNT_STREAM;
		rows[i][1].parent = 0;
		rows[i][1].depth = 1;
		rows[i][1].leaf = true;
		devices[i] =
			(struct tare_device_ledger){ .name = "GPU", .used = 9 << 20, .nvml = true, .rows = rows[i], .row_nr = 2 };
		ledgers[i] = (struct tare_ledger){ .at = i ? "end" : "peak", .devices = &devices[i], .device_nr = 1 };
	}
	ledger_text(&out, both, 2, &terminal);
	row = row_of(tare_str_text(&out), "streams");
	CHECK_HAS(row, "inferred");
	free(row);
	tare_str_cut(&out, 0);
	by_text(&out, TARE_BY_ACCOUNT, both, 2);
	row = row_of(tare_str_text(&out), "streams");
	CHECK_HAS(row, "inferred");
	free(row);
	tare_str_free(&out);
}

TEST(a_row_of_two_instants_has_the_weaker_evidence)
{
	check_weakest(TARE_EVIDENCE_WEIGHED, TARE_EVIDENCE_INFERRED);
	check_weakest(TARE_EVIDENCE_INFERRED, TARE_EVIDENCE_WEIGHED);
}

TEST(pool_with_what_pins_it)
{
	const struct tare_ledger *ledger = sample_pool();
	struct tare_pool_groups groups;
	struct tare_str out = { 0 };
	int64_t sum = 0;

	by_text(&out, TARE_BY_POOL, &ledger, 1);
	golden_check("pool.txt", tare_str_text(&out));
	tare_str_free(&out);
	tare_pool_build(&groups, ledger, &ledger->devices[0]);
	CHECK_INT((int64_t)groups.count, 3);
	for (size_t i = 0; i < groups.count; i++) {
		const struct tare_segment_sum *g = &groups.items[i].sum;

		CHECK_INT(g->bytes, g->live + g->cached + g->stuck + g->held);
		sum += g->bytes;
	}
	CHECK_INT(sum, 330 * (INT64_C(1) << 20));
	tare_pool_free(&groups);
}

TEST(pool_by_stream)
{
	const struct tare_ledger *ledger = sample_streams(), *plain;
	struct tare_str out = { 0 };

	by_text(&out, TARE_BY_STREAM, &ledger, 1);
	golden_check("streams.txt", tare_str_text(&out));
	tare_str_cut(&out, 0);
	by_text(&out, TARE_BY_POOL, &ledger, 1);
	CHECK_HAS(tare_str_text(&out), "by stream");
	CHECK_HAS(tare_str_text(&out), "cached on stream 0 (pool, high priority): 11.0 MiB, which the other");
	tare_str_cut(&out, 0);
	plain = sample_pool(); /* of no segment it is known */
	by_text(&out, TARE_BY_STREAM, &plain, 1);
	CHECK_HAS(tare_str_text(&out), "holds no stream events");
	tare_str_free(&out);
}

/* Of a device without segments only the rows are known; where there are none either, nothing can be shown. */
TEST(pool_that_is_not_known)
{
	static struct tare_row row = { .path = "process:431/allocations/libc10_cuda/tensors", .parent = -1 };
	static struct tare_device_ledger device = { .name = "", .rows = &row, .row_nr = 1 };
	static struct tare_ledger ledger = { .at = "peak", .t_ns = -1, .devices = &device, .device_nr = 1 };
	const struct tare_ledger *one = &ledger;
	struct tare_str out = { 0 };

	by_text(&out, TARE_BY_POOL, &one, 1);
	CHECK_HAS(tare_str_text(&out), "folded");
	tare_str_cut(&out, 0);
	device.row_nr = 0;
	by_text(&out, TARE_BY_POOL, &one, 1);
	CHECK_HAS(tare_str_text(&out), "holds no tensor events");
	tare_str_free(&out);
}

TEST(ranks_side_by_side)
{
	const struct tare_ledger *ledger = sample_ranks();
	struct tare_str out = { 0 };

	by_text(&out, TARE_BY_RANK, &ledger, 1);
	golden_check("ranks.txt", tare_str_text(&out));
	tare_str_free(&out);
}

TEST(libraries_of_one_owner_are_one_group)
{
	static struct tare_row rows[] = {
		{ .path = "a",
		  .label = "libtorch_cuda",
		  .parent = -1,
		  .leaf = true,
		  .bytes = 1,
		  .account = TARE_ACCOUNT_ALLOCATION,
		  .pid = -1 },
		{ .path = "b",
		  .label = "libc10_cuda",
		  .parent = -1,
		  .leaf = true,
		  .bytes = 2,
		  .account = TARE_ACCOUNT_ALLOCATION,
		  .pid = -1 },
		{ .path = "c",
		  .label = "solver",
		  .parent = -1,
		  .leaf = true,
		  .bytes = 4,
		  .account = TARE_ACCOUNT_ALLOCATION,
		  .pid = -1 },
	};
	struct tare_device_ledger device = { .rows = rows, .row_nr = 3, .used = 7 };
	struct tare_ledger ledger = { .at = "end", .devices = &device, .device_nr = 1 };
	struct tare_by_rows groups;

	tare_by_build(&groups, TARE_BY_OWNER, &ledger);
	CHECK_INT(groups.count, 2);
	CHECK_STR(groups.rows[0].label, "solver");
	CHECK_STR(groups.rows[1].label, "PyTorch");
	CHECK_INT(groups.rows[1].bytes, 3);
	tare_by_free(&groups);
	tare_by_build(&groups, TARE_BY_LIBRARY, &ledger);
	CHECK_INT(groups.count, 3);
	tare_by_free(&groups);
}

/* --pid: the others become one row each, and the books still balance. */
TEST(a_process_filter_balances)
{
	const struct tare_ledger *whole = sample_pair();
	struct tare_ledger one;

	tare_filter_process(whole, 8, &one);
	CHECK_INT(one.host_nr, 1);
	for (int d = 0; d < one.device_nr; d++) {
		int64_t sum = one.devices[d].unexplained;

		for (int i = 0; i < one.devices[d].row_nr; i++) {
			const struct tare_row *row = &one.devices[d].rows[i];

			sum += row->leaf ? row->bytes : 0;
			CHECK(row->parent < i);
			CHECK(row->pid != 7 || row->account == TARE_ACCOUNT_PROCESS);
		}
		CHECK_INT(sum, one.devices[d].used);
	}
	tare_filter_free(&one);
}

TEST(names_cannot_steer_the_terminal)
{
	struct tare_str out = { 0 };

	tare_text_add_name(&out, "a\x1b[2J\nb\x7f \xc2\x9b \xff \xe2\x82 é €");
	CHECK_STR(tare_str_text(&out), "a?[2J?b? ? ? ?? é €");
	tare_str_free(&out);
}

/* A hundred processes still fit on a screen, and what is added up is all there. */
TEST(many_processes_stay_on_one_screen)
{
	enum { NR = 100 };
	static struct tare_row rows[NR];
	static struct tare_host_ledger hosts[NR];
	struct tare_device_ledger device = { .rows = rows, .row_nr = NR, .nvml = true };
	struct tare_ledger ledger = { .at = "end", .devices = &device, .device_nr = 1, .hosts = hosts, .host_nr = NR };
	const struct tare_ledger *one = &ledger;
	struct tare_str out = { 0 };
	int lines = 0;

	for (int i = 0; i < NR; i++) {
		char path[32];

		snprintf(path, sizeof(path), "process:%d", i);
		rows[i] = (struct tare_row){ .path = strdup(path),
			                         .label = "worker",
			                         .parent = -1,
			                         .leaf = true,
			                         .account = TARE_ACCOUNT_PROCESS,
			                         .bytes = (i + 1) << 20,
			                         .pid = i };
		hosts[i] = (struct tare_host_ledger){ .pid = i, .name = "worker", .peak_rss = (uint64_t)i << 20 };
		device.used += (uint64_t)rows[i].bytes;
	}
	ledger_text(&out, &one, 1, &terminal);
	CHECK_HAS(tare_str_text(&out), "94 smaller processes");
	CHECK_HAS(tare_str_text(&out), "4,465.0");
	CHECK_HAS(tare_str_text(&out), "96 more processes");
	for (const char *p = tare_str_text(&out); *p; p++)
		lines += *p == '\n';
	CHECK(lines < 30);
	tare_str_free(&out);
	for (int i = 0; i < NR; i++)
		free((char *)rows[i].path);
}
