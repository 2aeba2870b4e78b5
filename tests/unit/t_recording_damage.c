/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of records that are damaged, missing or were given up, and how old they may be. */
#include "trace/recording.h"
#include "two_logs.h"

TEST(damage_and_loss_are_said_once)
{
	struct tare_control control = { .magic = TARE_CONTROL_MAGIC, .degraded = 2 };
	struct tare_recording *r;
	char place[64];
	FILE *f;

	init_both();
	make_log_program(&m);
	MAKE(&m, lost, LOST, .records = 17);
	MAKE_TEXT(&m, degraded, DEGRADED, "NVML is not there\n", .remark = 0);
	MAKE_TEXT(&m, degraded, DEGRADED, "NVML is not there\n", .remark = 0);
	MAKE_TEXT(&m, degraded, DEGRADED, "figures are MiB", .remark = 1);
	memset(m.bytes + m.records[7].position, 0, 16);
	write_both();
	f = fopen(make_path(make_dir(), "control"), "w");
	CHECK(f && fwrite(&control, sizeof(control), 1, f) == 1 && fclose(f) == 0);
	write_text(make_path(make_dir(), "recording.json"), "{\"tare\": oops");
	write_text(make_path(make_dir(), "7-0.events"), "no log at all");
	r = open_ok(make_dir());
	CHECK(has_note(r, "17 records given up"));
	snprintf(place, sizeof(place), "1 place (%zu bytes) without a whole record",
	         (sizeof(struct tare_rec_event) + TARE_CELL - 1) / TARE_CELL * TARE_CELL);
	CHECK(has_note(r, place));
	CHECK(has_note(r, "NVML is not there"));
	CHECK(has_note(r, "2 of the processes could not open a log"));
	CHECK(has_note(r, "recording.json is damaged"));
	CHECK(has_note(r, "7-0.events is not a recording of Tare"));
	CHECK_INT(tare_recording_note_nr(r), 6);
	CHECK_INT(tare_recording_remark_nr(r), 1);
	CHECK_STR(tare_recording_remark(r, 0), "figures are MiB");
	CHECK_INT(process_of(r, 431)->lost, 17);
	CHECK_INT(process_of(r, 431)->unfinished, 1);
	tare_recording_close(r);
	free_both();
}

/* Three threads in three lanes; `block` of them comes with `from` and the stamps of its records. */
struct lane_block {
	uint32_t lane;
	uint64_t from;
	uint64_t stamps[4];
};

/* A log of blocks; the bytes of one record, or of a whole block (its begin), are destroyed. */
static void write_blocks(const struct lane_block *blocks, int nr, int hit_block, int hit_record)
{
	size_t begin = 0;

	init_both();
	m.header.has_lanes = 1;
	for (int i = 0; i < nr; i++) {
		const struct lane_block *b = &blocks[i];
		struct tare_rec_lane lane = { .head = { .kind = TARE_KIND_LANE }, .lane = b->lane, .from = b->from };
		size_t position, at = make_log_add(&m, &lane, sizeof(lane), NULL, 0), first = 0;

		for (int k = 0; k < 4 && b->stamps[k]; k++) {
			m.stamp = m.header.first_stamp + b->stamps[k];
			position = MAKE(&m, exit, EXIT, .pid = 1);
			first = first ? first : position;
			if (i == hit_block && k == hit_record)
				begin = position;
		}
		((struct tare_rec_lane *)(void *)(m.bytes + at))->bytes = (uint32_t)(m.size - first);
		if (i == hit_block && hit_record < 0)
			begin = at;
	}
	if (hit_block >= 0)
		memset(m.bytes + begin, 0x5a, hit_record < 0 ? sizeof(struct tare_rec_lane) : 16);
	write_both();
}

enum { EXIT_BYTES = 32 };

TEST(damage_in_a_lane_is_newer_than_what_the_lane_has_before_it)
{
	static const struct lane_block blocks[] = {
		{ 0, 0, { 100, 200, 300 } },
		{ 1, 0, { 150, 160 } },
		{ 0, 3 * EXIT_BYTES, { 400, 500, 600 } },
	};
	struct tare_recording *r;
	const struct tare_process *p;

	CHECK_INT(sizeof(struct tare_rec_exit) <= EXIT_BYTES, 1);
	write_blocks(blocks, 3, 2, 1);
	r = open_ok(make_dir());
	p = process_of(r, 431);
	CHECK(p->is_damaged);
	CHECK_INT(p->damage_from_ns - p->first_ns, 400);
	CHECK_INT(p->damage_to_ns - p->first_ns, 600);
	CHECK(!process_of(r, 400)->is_damaged);
	tare_recording_close(r);
	free_both();
}

TEST(a_block_that_is_not_there_is_newer_than_its_lane_before_it)
{
	static const struct lane_block blocks[] = {
		{ 0, 0, { 100, 200, 300 } },
		{ 1, 0, { 150, 160 } },
		{ 0, 7 * EXIT_BYTES, { 800, 900 } }, /* 3 … 6 are in no block */
	};
	struct tare_recording *r;
	const struct tare_process *p;

	write_blocks(blocks, 3, -1, 0);
	r = open_ok(make_dir());
	p = process_of(r, 431);
	CHECK(p->is_damaged);
	CHECK_INT(p->damage_from_ns - p->first_ns, 300);
	CHECK_INT(p->damage_to_ns - p->first_ns, 800);
	tare_recording_close(r);
	free_both();
}

/* Whose block that was nobody knows, nor how old what was in it. */
TEST(damage_outside_of_blocks_may_be_as_old_as_the_log)
{
	static const struct lane_block blocks[] = {
		{ 0, 0, { 100, 200, 300 } },
		{ 1, 0, { 150, 160 } },
		{ 2, 0, { 700, 800 } },
	};
	struct tare_recording *r;
	const struct tare_process *p;

	write_blocks(blocks, 3, 1, -1);
	r = open_ok(make_dir());
	p = process_of(r, 431);
	CHECK(p->is_damaged);
	CHECK_INT(p->damage_from_ns, p->first_ns);
	tare_recording_close(r);
	free_both();
}

TEST(a_whole_log_is_not_damaged)
{
	static const struct lane_block blocks[] = {
		{ 0, 0, { 100, 200, 300 } },
		{ 1, 0, { 150, 160 } },
		{ 0, 3 * EXIT_BYTES, { 400, 500, 600 } },
	};
	struct tare_recording *r;

	write_blocks(blocks, 3, -1, 0);
	r = open_ok(make_dir());
	CHECK(!process_of(r, 431)->is_damaged);
	tare_recording_close(r);
	free_both();
	init_both();
	make_log_program(&m);
	write_both();
	r = open_ok(make_dir());
	CHECK(!process_of(r, 431)->is_damaged);
	tare_recording_close(r);
	free_both();
}

/* Whose they were nobody knows: any of the programs'. */
TEST(records_that_went_with_a_ring_without_a_file)
{
	struct tare_control control = { .magic = TARE_CONTROL_MAGIC, .lost_records = 3 };
	struct tare_recording *r;
	FILE *f;

	init_both();
	make_log_program(&m);
	write_both();
	f = fopen(make_path(make_dir(), "control"), "w");
	CHECK(f && fwrite(&control, sizeof(control), 1, f) == 1 && fclose(f) == 0);
	r = open_ok(make_dir());
	CHECK(has_note(r, "3 records in"));
	CHECK(process_of(r, 431)->is_damaged);
	CHECK_INT(process_of(r, 431)->damage_from_ns, process_of(r, 431)->first_ns);
	CHECK(!process_of(r, 400)->is_damaged);
	tare_recording_close(r);
	free_both();
}
