/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures as text; whether XML can be read is asked in tests/e2e/t_svg.py. */
#include "ledger_world.h"
#include "base/text.h"
#include "test.h"
#include "view/picture.h"
#include "view/svg.h"
#include "view/timeline.h"

#include <stdlib.h>

#define BASE UINT64_C(0x7f0000000000)

/* `kept` NULL: all events are there. */
static void draw_kept(struct world *w, const char *title, const struct tare_ledger_kept *kept, struct tare_str *out)
{
	struct tare_memory_history s;
	struct tare_ledger_opts opts = { .history = &s, .kept = kept };
	const char *at = "peak";
	struct tare_ledger l;
	struct tare_picture_run run = { title, &l, &s };

	world_build(w, &opts, &at, 1, &l);
	tare_picture(out, &run, 1);
	tare_memory_history_free(&s);
	tare_ledger_free(&l);
}

static void draw(struct world *w, const char *title, struct tare_str *out)
{
	draw_kept(w, title, NULL, out);
}

static void take(struct world *w, int64_t t, int64_t size, int64_t before)
{
	CALL(w, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_NEW, .begin = t, .end = t + 10,
	     .handle = BASE + (uint64_t)t * 4096, .context = 0xc0, .asked = (uint64_t)size, .granted = (uint64_t)size,
	     .weigh = true, .before = before, .after = before + size);
}

static size_t count(const char *text, const char *part)
{
	size_t n = 0;

	for (const char *p = text; (p = strstr(p, part)); p++)
		n++;
	return n;
}

TEST(svg_escapes_what_xml_does_not_take)
{
	static const struct {
		const char *text, *wanted;
	} cases[] = {
		{ "a<b>&\"c'", "a&lt;b&gt;&amp;&quot;c&#39;" },
		{ "]]>", "]]&gt;" },
		{ "tab\there\x01\x7f", "tab?here??" },
		{ "grün ×", "grün ×" },
		{ "\xc3", "?" },
		{ "\xc0\xaf\xff", "???" },
		{ "\xed\xa0\x80", "???" },      /* a surrogate */
		{ "\xef\xbf\xbf", "?" },        /* U+FFFF */
		{ "\xf4\x90\x80\x80", "????" }, /* beyond Unicode */
		{ "\xc2\x85", "?" },            /* a control character */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tare_str out = { 0 };

		tare_svg_escape(&out, cases[i].text);
		CHECK_STR(tare_str_text(&out), cases[i].wanted);
		tare_str_free(&out);
	}
}

TEST(svg_cuts_between_characters_and_not_inside_an_entity)
{
	struct tare_str out = { 0 };

	tare_text_add_markup(&out, "&&ö&&", 4);
	CHECK_STR(tare_str_text(&out), "&amp;&amp;ö…");
	tare_str_cut(&out, 0);
	tare_text_add_markup(&out, "abc", 3);
	CHECK_STR(tare_str_text(&out), "abc");
	tare_str_free(&out);
}

TEST(svg_numbers_have_a_decimal_where_they_need_one)
{
	struct tare_str out = { 0 };
	static const double values[] = { 0, 1, -1, .1, -.1, 12.34, -12.36, 100 };

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		tare_svg_num(&out, values[i]);
		tare_str_add_char(&out, ' ');
	}
	CHECK_STR(tare_str_text(&out), "0 1 -1 .1 -.1 12.3 -12.4 100 ");
	tare_str_free(&out);
}

TEST(svg_steps_go_sideways_then_up)
{
	struct tare_svg_steps s;
	struct tare_str out = { 0 };

	tare_svg_steps_start(&s, &out, 10, 20);
	tare_svg_steps_to(&s, 12, 20); /* the same height */
	tare_svg_steps_to(&s, 15.5, 18);
	tare_svg_steps_to(&s, 15.5, 18.04); /* less than can be seen */
	tare_svg_steps_end(&s, 30);
	CHECK_STR(tare_str_text(&out), "M10 20h5.5v-2h14.5");
	tare_str_free(&out);
}

TEST(picture_of_an_empty_recording_says_so)
{
	struct world *w = world_new();
	struct tare_str out = { 0 };

	draw(w, "nothing", &out);
	CHECK_HAS(tare_str_text(&out), "Nothing was recorded that could be drawn");
	CHECK_HAS(tare_str_text(&out), "</svg>\n");
	tare_str_free(&out);
	world_free(w);
}

TEST(picture_has_peak_title_and_both_colour_schemes_and_needs_nothing)
{
	struct world *w = world_new();
	struct tare_str out = { 0 };
	const char *text;

	take(w, 1 * MS, 24 * MIB, 100 * MIB);
	take(w, 5 * MS, 8 * MIB, 124 * MIB);
	draw(w, "a<b>&\"c\"", &out);
	text = tare_str_text(&out);
	CHECK_HAS(text, "peak 132.0 MiB, 5 ms");
	CHECK_HAS(text, "prefers-color-scheme:dark");
	CHECK_HAS(text, "a&lt;b&gt;&amp;&quot;c&quot;");
	CHECK_HAS(text, "data-band=\"allocations\"");
	CHECK(!strstr(text, "<script"));
	CHECK_INT(count(text, "http"), 1); /* the name space */
	tare_str_free(&out);
	world_free(w);
}

TEST(picture_of_time_whose_events_went_has_the_least_and_the_most)
{
	struct tare_extent spans[] = {
		{ 0, 0, 200 * MS, { 16 * MIB, 0 }, { 64 * MIB, 100 * MS }, NULL },
		{ 0, 200 * MS, 500 * MS, { 32 * MIB, 210 * MS }, { 400 * MIB, 300 * MS }, NULL },
		{ 0, 90 * MS, 90 * MS, { 60 * MIB, 0 }, { 60 * MIB, 0 }, (char *)"oom#1" },
		{ 1, 0, 500 * MS, { 1 * MIB, 0 }, { 900 * MIB, 0 }, NULL },
	};
	struct tare_extent_list extents = { spans, sizeof(spans) / sizeof(spans[0]), 0 };
	struct tare_ledger_kept kept = { .dropped_ns = 500 * MS, .extents = &extents };
	struct world *w = world_new();
	struct tare_str out = { 0 };
	const char *text;

	take(w, 600 * MS, 24 * MIB, 100 * MIB);
	take(w, 1000 * MS, 8 * MIB, 124 * MIB);
	draw_kept(w, "kept", &kept, &out);
	text = tare_str_text(&out);
	CHECK_INT(count(text, "<rect class=\"band\""), 2);
	CHECK_INT(count(text, "<rect class=\"least\""), 2);
	CHECK_HAS(text, "between 16.0 and 64.0 MiB in use");
	CHECK_HAS(text, "between 32.0 and 400.0 MiB in use");
	CHECK_HAS(text, "least and most in use</text>");
	CHECK_HAS(text, "peak 400.0 MiB, 300 ms");
	CHECK_HAS(text, "most of the rest, 1.0 s");
	CHECK(!strstr(text, "not known"));
	tare_str_cut(&out, 0);
	kept.extents = NULL;
	draw_kept(w, "nothing kept", &kept, &out);
	text = tare_str_text(&out);
	CHECK_HAS(text, ">not known</text>");
	CHECK_HAS(text, "peak 132.0 MiB, 1.0 s");
	tare_str_free(&out);
	world_free(w);
}

TEST(picture_of_a_gpu_with_nothing_in_use_has_one_tick)
{
	struct tare_extent span = { 0, 0, 200 * MS, { 0, 0 }, { 0, 0 }, NULL };
	struct tare_extent_list extents = { &span, 1, 0 };
	struct tare_ledger_kept kept = { .dropped_ns = 200 * MS, .extents = &extents };
	struct world *w = world_new();
	struct tare_str out = { 0 };

	take(w, 600 * MS, 0, 0);
	draw_kept(w, "nothing", &kept, &out);
	CHECK_INT(count(tare_str_text(&out), "class=\"grid\""), 1);
	tare_str_free(&out);
	world_free(w);
}

TEST(picture_of_a_thousand_phases_stays_small)
{
	static char names[1000][48]; /* the world keeps their addresses */
	struct world *w = world_new();
	struct tare_str out = { 0 };

	take(w, 0, 2 * MIB, 100 * MIB);
	for (int i = 0; i < 1000; i++) {
		snprintf(names[i], sizeof(names[i]), "phase <%d> of & \"many\"", i);
		PHASE(w, .tid = 1, .what = TARE_PHASE_PUSH, .t = i * MS, .name = names[i]);
		PHASE(w, .tid = 1, .what = TARE_PHASE_POP, .t = i * MS + MS / 2);
	}
	take(w, 1000 * MS, 2 * MIB, 102 * MIB);
	draw(w, "many", &out);
	CHECK_INT(count(tare_str_text(&out), "<rect class=\"ph"), 1000);
	CHECK(out.len < 300000);
	CHECK(!strstr(tare_str_text(&out), "phase <"));
	tare_str_free(&out);
	world_free(w);
}

struct none {
	const char *text;
};

/* In a table as wide as that. */
static void timeline(struct tare_str *out, const struct tare_timeline *t, const struct tare_timeline_peak *peak,
                     int width)
{
	static const struct tare_column columns[] = { TARE_COLUMN(none, text, NULL, "", TEXT) };
	struct none wide = { tare_str_text(out) };
	struct tare_str blanks = { 0 };
	struct tare_emit e;
	size_t start = out->len;

	tare_str_add_repeat(&blanks, ".", (size_t)width);
	wide.text = tare_str_text(&blanks);
	tare_emit_begin(&e, TARE_EMIT_TEXT, out);
	e.style.width = width;
	tare_emit_shape(&e, TARE_SHAPE_TREE, "rows", NULL, TARE_COLUMNS(columns));
	tare_timeline_show(&e, t, peak);
	tare_emit_add(&e, &wide);
	tare_emit_table_end(&e);
	tare_emit_end(&e);
	tare_str_free(&blanks);
	tare_str_cut(out, start + strcspn(out->data + start, "\n") + 1);
	if (out->data[start] == '\n')
		tare_str_cut(out, start);
}

/* As many columns as fit; nothing where nothing changed. */
TEST(timeline_shows_what_changes)
{
	int64_t used[] = { 0, 1 * MIB, 4 * MIB, 8 * MIB, 8 * MIB, 2 * MIB, 2 * MIB, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
	struct tare_timeline t = { .from_ns = 0, .to_ns = 41 * 1000 * MS, .used = used, .nr = 16 };
	struct tare_timeline_peak peak = { 1900 * MS, 8 * MIB };
	struct tare_str out = { 0 };

	timeline(&out, &t, NULL, 27);
	CHECK_STR(tare_str_text(&out), "0 s ▁▁▄██▂▂▁▁▁▁▁▁▁▁▁ 41.0 s\n");
	tare_text_to_ascii(&out, 0);
	CHECK_STR(tare_str_text(&out), "0 s __=##.._________ 41.0 s\n");
	tare_str_cut(&out, 0);
	timeline(&out, &t, &peak, 80);
	CHECK_HAS(tare_str_text(&out), " 41.0 s · peak 8.0 at 1.9 s\n");
	CHECK_INT(tare_str_columns(tare_str_text(&out)), 81);
	tare_str_cut(&out, 0);
	for (int i = 0; i < 16; i++)
		used[i] = 7 * MIB;
	timeline(&out, &t, NULL, 80);
	CHECK_STR(tare_str_text(&out), "");
	t.nr = 0;
	timeline(&out, &t, NULL, 80);
	CHECK_STR(tare_str_text(&out), "");
	tare_str_free(&out);
}
