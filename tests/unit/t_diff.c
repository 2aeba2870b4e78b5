/* SPDX-License-Identifier: Apache-2.0 */
/* Two reports side by side, as JSON that could have been saved anywhere. */
#include "test.h"
#include "view/diff.h"

#define DEVICE(USED, UNEXPLAINED, ACCOUNTS)                                                                            \
	"{\"index\": 0, \"name\": \"GPU\", \"uuid\": \"GPU-1\", \"used_bytes\": " #USED                                    \
	", \"unexplained_bytes\": " #UNEXPLAINED ", \"accounts\": [" ACCOUNTS "]}"
#define REPORT(DEVICES) "{\"at\": {\"label\": \"peak\", \"t_ns\": 5}, \"devices\": [" DEVICES "], \"host\": []}"
#define PROCESS(PID, NAME, BYTES)                                                                                      \
	"{\"path\": \"process:" #PID "\", \"label\": \"" NAME " (pid " #PID                                                \
	")\", \"account\": \"process\", \"bytes\": " #BYTES "}, " ROW("process:" #PID "/context", BYTES)
#define ROW(PATH, BYTES) "{\"path\": \"" PATH "\", \"label\": \"" PATH "\", \"account\": \"x\", \"bytes\": " #BYTES "}"

static struct tare_arena memory;

static void read_side(struct tare_diff_side *side, const char *text, int by, const char *at)
{
	const struct tare_json_value *root;
	struct tare_err err = { 0 };

	if (tare_json_parse(&memory, text, strlen(text), &root, &err) || tare_diff_read(side, root, by, at, &err))
		test_fail(__FILE__, __LINE__, "%s", err.text);
}

static struct tare_diff diff_of(const char *before, const char *after, int by)
{
	struct tare_diff d = { .by = by };

	read_side(&d.before, before, by, NULL);
	read_side(&d.after, after, by, NULL);
	tare_diff_build(&d);
	return d;
}

static const struct tare_diff_row *row(const struct tare_diff *d, const char *path)
{
	for (size_t i = 0; i < d->row_nr; i++)
		if (!strcmp(d->rows[i].path, path))
			return &d->rows[i];
	test_fail(__FILE__, __LINE__, "no row %s", path);
	return NULL;
}

/* What the leaves of a device come to is what it has in use, on both sides. */
static void check_balance(const struct tare_diff *d)
{
	for (size_t t = 0; t < d->total_nr; t++) {
		int64_t before = 0, after = 0;

		for (size_t i = 0; i < d->row_nr; i++)
			if (d->rows[i].is_leaf && d->rows[i].place == (int)t) {
				before += d->rows[i].before;
				after += d->rows[i].after;
			}
		CHECK_INT(before, d->totals[t].before);
		CHECK_INT(after, d->totals[t].after);
	}
}

TEST(the_largest_change_is_first_and_sums_balance)
{
	struct tare_diff d = diff_of(REPORT(DEVICE(100, 5, ROW("a", 60) "," ROW("b", 35))),
	                             REPORT(DEVICE(120, 2, ROW("b", 18) "," ROW("c", 100))), -1);

	CHECK_STR(d.rows[0].path, "c");
	CHECK_STR(d.rows[1].path, "a");
	CHECK_STR(d.rows[2].path, "b");
	CHECK_STR(d.rows[3].path, "unexplained");
	CHECK(!d.rows[0].is_before && d.rows[0].is_after);
	CHECK(d.rows[1].is_before && !d.rows[1].is_after && !d.rows[1].after_path);
	CHECK_INT(d.rows[2].after - d.rows[2].before, -17);
	check_balance(&d);
	tare_diff_free(&d);
}

TEST(a_process_is_told_by_its_name)
{
	struct tare_diff d = diff_of(REPORT(DEVICE(30, 0, PROCESS(7, "bash", 10) "," PROCESS(8, "train", 20))),
	                             REPORT(DEVICE(37, 0, PROCESS(7, "train", 25) "," PROCESS(9, "bash", 12))), -1);

	CHECK_INT(row(&d, "process:8/context")->after, 25);
	CHECK_STR(row(&d, "process:8/context")->after_path, "process:7/context");
	CHECK_INT(row(&d, "process:7/context")->after, 12);
	check_balance(&d);
	tare_diff_free(&d);
}

TEST(what_is_left_over_on_both_sides_is_a_pair)
{
	struct tare_diff d =
		diff_of(REPORT(DEVICE(10, 0, PROCESS(7, "sgd.py", 10))), REPORT(DEVICE(12, 0, PROCESS(70, "adam.py", 12))), -1);

	CHECK_INT(row(&d, "process:7/context")->after, 12);
	tare_diff_free(&d);
}

TEST(processes_of_one_name_pair_in_their_order_and_a_new_one_is_new)
{
	struct tare_diff d = diff_of(REPORT(DEVICE(10, 0, PROCESS(7, "w", 10))),
	                             REPORT(DEVICE(33, 0, PROCESS(5, "w", 11) "," PROCESS(7, "x", 22))), -1);

	CHECK_INT(row(&d, "process:7/context")->after, 11);
	CHECK_INT(row(&d, "after:process:7/context")->after, 22);
	CHECK(!row(&d, "after:process:7/context")->is_before);
	check_balance(&d);
	tare_diff_free(&d);
}

/* One side has a pool as one number, the other what is in it. */
TEST(what_one_side_does_not_tell_apart_is_a_leaf_of_its_own)
{
	struct tare_diff d =
		diff_of(REPORT(DEVICE(10, 0, ROW("pool", 10))),
	            REPORT(DEVICE(12, 0, ROW("pool", 12) "," ROW("pool/live", 9) "," ROW("pool/cached", 3))), -1);

	CHECK(!row(&d, "pool")->is_leaf);
	CHECK_INT(row(&d, "pool/rest")->before, 10);
	CHECK_INT(row(&d, "pool/rest")->after, 0);
	check_balance(&d);
	tare_diff_free(&d);
}

TEST(a_gpu_is_told_by_its_uuid_then_by_its_number)
{
	struct tare_diff d =
		diff_of(REPORT("{\"index\": 1, \"uuid\": \"GPU-1\", \"used_bytes\": 7, \"unexplained_bytes\": 7}"),
	            REPORT("{\"index\": 0, \"uuid\": \"GPU-1\", \"used_bytes\": 9, \"unexplained_bytes\": 9},"
	                   "{\"index\": 1, \"uuid\": \"GPU-2\", \"used_bytes\": 3, \"unexplained_bytes\": 3}"),
	            -1);

	CHECK_INT(d.total_nr, 2);
	CHECK_INT(d.totals[0].before, 7);
	CHECK_INT(d.totals[0].after, 9);
	CHECK_INT(d.totals[1].after, 3);
	check_balance(&d);
	tare_diff_free(&d);
	d = diff_of(REPORT("{\"index\": 0, \"uuid\": \"GPU-8\", \"used_bytes\": 7, \"unexplained_bytes\": 7}"),
	            REPORT("{\"index\": 0, \"uuid\": \"GPU-9\", \"used_bytes\": 9, \"unexplained_bytes\": 9}"), -1);
	CHECK_INT(d.total_nr, 1);
	tare_diff_free(&d);
}

/* A GPU that is not the first's does not take the number of one that is. */
TEST(gpus_in_another_order_are_pairs)
{
	static const char new_one[] =
		REPORT("{\"index\": 0, \"uuid\": \"GPU-3\", \"used_bytes\": 5, \"unexplained_bytes\": 5},"
	           "{\"index\": 1, \"uuid\": \"GPU-1\", \"used_bytes\": 9, \"unexplained_bytes\": 9}");
	struct tare_diff d =
		diff_of(REPORT("{\"index\": 0, \"uuid\": \"GPU-1\", \"used_bytes\": 7, \"unexplained_bytes\": 7}"), new_one,
	            -1);

	CHECK_INT(d.total_nr, 2);
	CHECK_INT(d.totals[0].after, 9);
	CHECK_INT(d.totals[0].in_after->index, 1);
	CHECK(!d.totals[1].is_before);
	CHECK_INT(d.totals[1].after, 5);
	check_balance(&d);
	tare_diff_free(&d);
}

TEST(without_a_counter_the_leaves_are_the_total)
{
	struct tare_diff d =
		diff_of(REPORT(DEVICE(null, null, ROW("a", 60))), REPORT(DEVICE(null, null, ROW("a", 70))), -1);

	CHECK_INT(d.totals[0].before, 60);
	CHECK_INT(d.totals[0].after, 70);
	tare_diff_free(&d);
}

#define BY(ROWS)                                                                                                       \
	"{\"at\": {\"label\": \"peak\"}, \"devices\": [" DEVICE(100, 10, "") "], \"by\": \"line\", \"rows\": [" ROWS "]}"
#define LINE(LABEL, DEVICE, BYTES) "{\"label\": \"" LABEL "\", \"device\": " #DEVICE ", \"bytes\": " #BYTES "}"

TEST(rows_of_a_view_are_told_by_their_label)
{
	struct tare_diff d = diff_of(BY(LINE("a.py:1", 0, 90) "," LINE("a.py:1", null, 4)),
	                             BY(LINE("a.py:1", 0, 50) "," LINE("a.py:2", 0, 40)), TARE_BY_LINE);

	CHECK_INT(d.total_nr, 2);
	CHECK_INT(d.row_nr, 4);
	CHECK_STR(d.rows[0].path, "a.py:1");
	CHECK_INT(d.rows[0].after, 50);
	CHECK_STR(d.rows[1].path, "a.py:2");
	check_balance(&d);
	tare_diff_free(&d);
}

/* A program that was copied, as a work tree is; of two files of one name nobody knows which is which. */
TEST(a_line_is_found_in_another_folder)
{
	struct tare_diff d = diff_of(BY(LINE("/a/t.py:1 in f < /a/m.py:2 in g", 0, 50) "," LINE("/a/x.py:1", 0, 40)),
	                             BY(LINE("/b/t.py:1 in f < /b/m.py:2 in g", 0,
	                                     70) "," LINE("/b/x.py:1", 0, 10) "," LINE("/c/x.py:1", 0, 10)),
	                             TARE_BY_LINE);

	CHECK_INT(row(&d, "/a/t.py:1 in f < /a/m.py:2 in g")->after, 70);
	CHECK_STR(row(&d, "/a/t.py:1 in f < /a/m.py:2 in g")->after_path, "/b/t.py:1 in f < /b/m.py:2 in g");
	CHECK_INT(row(&d, "/a/x.py:1")->after, 0);
	CHECK_INT(row(&d, "/c/x.py:1")->before, 0);
	check_balance(&d);
	tare_diff_free(&d);
}

static int read_text(const char *text, int by, const char *at, struct tare_err *err)
{
	const struct tare_json_value *root;
	struct tare_diff d = { .by = by };
	int rc = tare_json_parse(&memory, text, strlen(text), &root, err);

	if (!rc)
		rc = tare_diff_read(&d.before, root, by, at, err);
	tare_diff_free(&d);
	return rc;
}

TEST(what_is_no_report_is_refused)
{
	struct tare_err err = { 0 };

	CHECK_INT(read_text("[]", -1, NULL, &err), TARE_E_FORMAT);
	CHECK_HAS(err.text, "not what tare report --json prints");
	CHECK_INT(read_text("{\"devices\": 3}", -1, NULL, &err), TARE_E_FORMAT);
	CHECK_INT(read_text(REPORT(""), TARE_BY_LINE, NULL, &err), TARE_E_NOT_FOUND);
	CHECK_HAS(err.text, "--by line");
	CHECK_INT(read_text(REPORT(""), -1, "end", &err), TARE_E_NOT_FOUND);
	CHECK_HAS(err.text, "its first is peak");
}

/* Nobody promises that a file makes sense: no row of it may harm. */
TEST(odd_rows_do_no_harm)
{
	static const char odd[] =
		REPORT("{\"index\": -1}, {\"index\": \"x\", \"accounts\": {\"a\": 1}}, 7, null,"
	           "{\"index\": 0, \"used_bytes\": 9223372036854775807, \"unexplained_bytes\": -1,"
	           "\"accounts\": [{}, 3, {\"path\": \"\"}, {\"path\": \"/\"}, {\"path\": \"a/b/c\"},"
	           "{\"path\": \"a\", \"bytes\": -9223372036854775808},"
	           "{\"path\": \"a/b\", \"bytes\": 1e300, \"account\": \"process\", \"label\": \"\"}]}");
	struct tare_diff d = diff_of(odd, odd, -1);
	struct tare_str out = { 0 };
	struct tare_emit e;

	for (int format = 0; format < TARE_EMIT_FORMAT_NR; format++) {
		tare_emit_begin(&e, (enum tare_emit_format)format, &out);
		tare_diff_show(&e, &d);
		tare_emit_end(&e);
	}
	CHECK(out.len > 0);
	tare_str_free(&out);
	tare_diff_free(&d);
}
