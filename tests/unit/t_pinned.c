/* SPDX-License-Identifier: Apache-2.0 */
/* Rule "pinned memory": what the driver locked, and what the program had asked for where an allocator rounds up. */
#include "base/emit.h"
#include "ledger/core/fold.h"
#include "ledger_world.h"
#include "test.h"
#include "view/pinned.h"

#include <string.h>

#define TORCH "/opt/torch/lib/libtorch_cuda.so"

static void pin(struct world *w, int64_t t, uint64_t at, int64_t bytes, const char *owner)
{
	CALL(w, .class = TARE_CLASS_HOST, .effect = TARE_EFFECT_NEW, .begin = t, .end = t + 10, .handle = at,
	     .context = 0xc0, .asked = (uint64_t)bytes, .granted = (uint64_t)bytes, .owner = owner);
}

static struct tare_pinned pinned_of(struct world *w)
{
	static const char *const at[] = { "50ms" };
	struct tare_ledger l;
	struct tare_pinned of;
	int64_t lines = 0;

	world_build(w, NULL, at, 1, &l);
	of = l.hosts[0].pinned_sum;
	for (int i = 0; i < l.hosts[0].pinned_line_nr; i++)
		lines += l.hosts[0].pinned_lines[i].of.bytes;
	CHECK_INT(lines, of.bytes);
	CHECK_INT(of.bytes, l.hosts[0].pinned + l.hosts[0].registered);
	tare_ledger_free(&l);
	world_free(w);
	return of;
}

/* vLLM's of issue 53042: 2.0832 GiB become 4. */
TEST(a_rounded_block_is_known_by_its_tensor)
{
	struct world *w = world_started();
	struct tare_pinned of;

	pin(w, 5 * MS, 0x10000, INT64_C(4096) * MIB, TORCH);
	pin(w, 6 * MS, 0x20000, 64 * MIB, TORCH); /* nobody keeps it where it would be found */
	world_probe_shape(w, 7 * MS, 0x10000, "int8 [2053, 1089536]");
	world_sweep(w, 7 * MS, 0);
	of = pinned_of(w);
	CHECK_INT(of.count, 2);
	CHECK_INT(of.bytes, INT64_C(4160) * MIB);
	CHECK_INT(of.looked, INT64_C(4096) * MIB);
	CHECK_INT(of.asked, INT64_C(2236817408));
	CHECK_INT(of.looked * 100 / of.asked, 192);
}

/* Half a tensor, or one that lies in a block that was rounded for another, is not what was asked for. */
TEST(what_does_not_fit_the_block_says_nothing)
{
	struct world *w = world_started();
	struct tare_pinned of;

	pin(w, 5 * MS, 0x10000, 64 * MIB, TORCH);
	world_probe_shape(w, 7 * MS, 0x10000, "float32 [1000]");
	world_probe_shape(w, 7 * MS, 0x10000, "float32 [100, 1048576]");
	world_probe_shape(w, 7 * MS, 0x10008, "int8 [50331648]");
	world_sweep(w, 7 * MS, 0);
	of = pinned_of(w);
	CHECK_INT(of.bytes, 64 * MIB);
	CHECK_INT(of.looked, 0);
}

TEST(who_asks_the_driver_itself_got_what_was_asked)
{
	struct world *w = world_started();
	struct tare_pinned of;

	pin(w, 5 * MS, 0x10000, 36 * MIB, "/opt/engine.so");
	CALL(w, .class = TARE_CLASS_REGISTERED, .effect = TARE_EFFECT_NEW, .begin = 6 * MS, .end = 6 * MS + 10,
	     .handle = 0x50, .context = 0xc0, .asked = 7 * MIB, .granted = 7 * MIB);
	of = pinned_of(w);
	CHECK_INT(of.asked, 43 * MIB);
	CHECK_INT(of.looked, 43 * MIB);
}

TEST(what_is_freed_goes_with_what_was_asked)
{
	struct world *w = world_started();
	struct tare_pinned of;

	pin(w, 5 * MS, 0x10000, 64 * MIB, TORCH);
	world_probe_shape(w, 7 * MS, 0x10000, "int8 [50331648]");
	world_sweep(w, 7 * MS, 0);
	CALL(w, .class = TARE_CLASS_HOST, .effect = TARE_EFFECT_DEL, .begin = 10 * MS, .end = 10 * MS + 10,
	     .handle = 0x10000, .context = 0xc0);
	of = pinned_of(w);
	CHECK_INT(of.bytes, 0);
	CHECK_INT(of.looked, 0);
	CHECK_INT(of.asked, 0);
	CHECK_INT(of.count, 0);
}

TEST(a_shape_says_its_bytes)
{
	CHECK_INT(tare_pinned_shape_bytes("int8 [2053, 1089536]"), INT64_C(2236817408));
	CHECK_INT(tare_pinned_shape_bytes("bfloat16 [3]"), 6);
	CHECK_INT(tare_pinned_shape_bytes("float8_e4m3fn [3, 5]"), 15);
	CHECK_INT(tare_pinned_shape_bytes("complex128 []"), 16);
	CHECK_INT(tare_pinned_shape_bytes("quint8 [3]"), 0);
	CHECK_INT(tare_pinned_shape_bytes("int8 [9223372036854775807, 9]"), 0);
	CHECK_INT(tare_pinned_shape_bytes("int8 [3"), 0);
	CHECK_INT(tare_pinned_shape_bytes("int8"), 0);
	CHECK_INT(tare_pinned_shape_bytes(""), 0);
	CHECK_INT(tare_pinned_shape_bytes(NULL), 0);
}

TEST(a_screen_says_the_ratio_and_the_setting)
{
	struct tare_pinned_line line = { .short_line = "kv.py:7 in cache" };
	struct tare_host_ledger host = { .pinned_lines = &line, .pinned_line_nr = 1, .pinned_on_card = 8 * MIB };
	struct tare_str out = { 0 };
	struct tare_emit e;

	line.of = (struct tare_pinned){ 4096 * (int64_t)MIB, 1, 4096 * (int64_t)MIB, 2236817408 };
	host.pinned_sum = line.of;
	tare_emit_begin(&e, TARE_EMIT_TEXT, &out);
	tare_pinned_text(&e, &host);
	tare_emit_end(&e);
	CHECK(strstr(tare_str_text(&out), "1.92 ×"));
	CHECK(strstr(tare_str_text(&out), "kv.py:7 in cache"));
	CHECK(strstr(tare_str_text(&out), "pinned_max_round_threshold_mb"));
	tare_str_free(&out);
}
