/* SPDX-License-Identifier: Apache-2.0 */
#include "snapshot_reading.h"

static void add_stack(struct reading *r, uint32_t stack)
{
	struct tare_snapshot_frame frame;

	for (size_t i = 0; tare_snapshot_frame(r->s, stack, i, &frame); i++)
		tare_str_addf(&r->told, " %s:%lld:%s", tare_snapshot_text(r->s, frame.file), (long long)frame.line,
		              tare_snapshot_text(r->s, frame.name));
	tare_str_add(&r->told, "\n");
}

static int on_segment(void *arg, const struct tare_snapshot_segment *s, const struct tare_snapshot_block *blocks,
                      size_t count, struct tare_err *err)
{
	struct reading *r = arg;

	(void)err;
	tare_str_addf(&r->told, "segment %u%s %llu+%llu stream %llu pool %lld,%lld%s%s", s->device,
	              s->is_host ? " host" : "", (unsigned long long)s->address, (unsigned long long)s->size,
	              (unsigned long long)s->stream, (long long)s->pool.a, (long long)s->pool.b,
	              s->is_small ? " small" : "", s->is_expandable ? " expandable" : "");
	add_stack(r, s->stack);
	for (size_t i = 0; i < count; i++) {
		tare_str_addf(&r->told, "block %llu+%llu asked %llu state %d", (unsigned long long)blocks[i].address,
		              (unsigned long long)blocks[i].size, (unsigned long long)blocks[i].asked, blocks[i].state);
		add_stack(r, blocks[i].stack);
	}
	return 0;
}

static int on_event(void *arg, const struct tare_snapshot_event *e, struct tare_err *err)
{
	struct reading *r = arg;

	(void)err;
	tare_str_addf(&r->told, "event %u%s action %d %llu+%llu stream %llu time %lld", e->device,
	              e->is_host ? " host" : "", e->action, (unsigned long long)e->address, (unsigned long long)e->size,
	              (unsigned long long)e->stream, (long long)e->time_us);
	if (e->has_pool)
		tare_str_addf(&r->told, " pool %lld,%lld", (long long)e->pool.a, (long long)e->pool.b);
	if (e->metadata)
		tare_str_addf(&r->told, " metadata %s", tare_snapshot_text(r->s, e->metadata));
	add_stack(r, e->stack);
	return 0;
}

static int on_annotation(void *arg, const struct tare_snapshot_annotation *a, struct tare_err *err)
{
	struct reading *r = arg;

	(void)err;
	tare_str_addf(&r->told, "%s %s at %lld\n", a->is_end ? "end" : "begin", tare_snapshot_text(r->s, a->name),
	              (long long)a->time_us);
	return 0;
}

struct tare_snapshot_sink reading_sink(struct reading *r)
{
	return (
		struct tare_snapshot_sink){ .arg = r, .segment = on_segment, .event = on_event, .annotation = on_annotation };
}

void read_bytes(struct reading *r, const void *bytes, size_t size)
{
	struct tare_snapshot_sink sink = reading_sink(r);

	*r = (struct reading){ .s = tare_snapshot_new() };
	r->rc = tare_snapshot_read_bytes(r->s, bytes, size, &sink, &r->err);
}

void reading_free(struct reading *r)
{
	tare_str_free(&r->told);
	tare_snapshot_delete(r->s);
}

void check_told(const char *bytes, size_t size, const char *wanted)
{
	struct reading r;

	read_bytes(&r, bytes, size);
	CHECK_STR(r.err.text, "");
	CHECK_INT(r.rc, 0);
	CHECK_STR(tare_str_text(&r.told), wanted);
	reading_free(&r);
}

void check_fails(const char *bytes, size_t size, int code, const char *says)
{
	struct reading r;

	read_bytes(&r, bytes, size);
	if (r.rc != code || !strstr(r.err.text, says) || !strstr(r.err.text, "byte "))
		test_fail(__FILE__, __LINE__, "code %d, \"%s\" instead of code %d, \"%s\"", r.rc, r.err.text, code, says);
	reading_free(&r);
}
