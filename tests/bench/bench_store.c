/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_store REC: what the records of a recording take in segments, by kind, and how quick they are to make and to read, on
 * one core, in processor time. All records of a kind and a log, in the order of time, are cut into blocks as a segment
 * has them; what is printed is the best of some rounds. The last lines are of reading the recording as it lies there.
 */
#include "base/xalloc.h"
#include "store/block.h"
#include "trace/log.h"
#include "trace/recording.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 5 };

static const struct tare_kind_info *own_kind(const void *arg, uint16_t kind)
{
	(void)arg;
	return tare_decode_kind(kind);
}

static const struct tare_layouts layouts = { own_kind, NULL };

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

struct kind {
	struct tare_block_record *records;
	size_t n, cap;
	uint64_t raw;
};

static void add(struct kind *k, const struct tare_log_record *rec)
{
	uint8_t *data = aligned_alloc(TARE_CELL, rec->bytes);

	if (!data)
		exit(1);
	memcpy(data, rec->rec.head, rec->bytes);
	if (k->n == k->cap) {
		k->cap = k->cap ? 2 * k->cap : 1024;
		k->records = tare_xrealloc(k->records, k->cap, sizeof(*k->records));
	}
	k->records[k->n++] = (struct tare_block_record){ data, rec->position, (uint32_t)rec->bytes };
	k->raw += rec->bytes;
}

/* Blocks one behind the other, and where each begins. */
struct blocks {
	struct tare_pack bytes;
	size_t *at, nr;
};

static void encode(struct blocks *b, const struct kind *k)
{
	b->bytes.len = b->nr = 0;
	for (size_t i = 0; i < k->n; i += TARE_BLOCK_RECORDS) {
		size_t left = k->n - i;

		b->at[b->nr++] = b->bytes.len;
		tare_block_encode(&b->bytes, &layouts, k->records + i, left < TARE_BLOCK_RECORDS ? left : TARE_BLOCK_RECORDS);
	}
	b->at[b->nr] = b->bytes.len;
}

static void decode(const struct blocks *b, struct tare_record_block *block)
{
	for (size_t i = 0; i < b->nr; i++)
		if (!tare_block_decode(block, &layouts, b->bytes.data + b->at[i], b->at[i + 1] - b->at[i], 0))
			exit(1);
}

static void measure(const char *name, const struct kind *k)
{
	double encoding = 1e9, decoding = 1e9, begin, took;
	struct tare_record_block block = { 0 };
	struct blocks b = { 0 };

	b.at = tare_xcalloc(k->n / TARE_BLOCK_RECORDS + 2, sizeof(*b.at));
	for (int i = 0; i < ROUNDS; i++) {
		begin = seconds();
		encode(&b, k);
		took = seconds() - begin;
		encoding = took < encoding ? took : encoding;
		begin = seconds();
		decode(&b, &block);
		took = seconds() - begin;
		decoding = took < decoding ? took : decoding;
	}
	printf("%-14s %9zu records, %6.1f B each → %5.2f B; encoded %5.2f M/s, decoded %6.1f M/s\n", name, k->n,
	       (double)k->raw / (double)k->n, (double)b.bytes.len / (double)k->n, (double)k->n / encoding / 1e6,
	       (double)k->n / decoding / 1e6);
	tare_block_free(&block);
	tare_pack_free(&b.bytes);
	free(b.at);
}

static void read_records(struct tare_recording *r, struct kind *all, struct kind *kinds)
{
	const struct tare_process *process;
	const struct tare_log *log;
	struct tare_log_record rec;

	while (tare_recording_next_record(r, &process, &log, &rec)) {
		if (process->role != TARE_ROLE_PROGRAM)
			continue;
		add(all, &rec);
		add(&kinds[rec.info->kind], &rec);
	}
}

static void measure_reading(struct tare_recording *r)
{
	double next = 1e9, begin, took;
	struct tare_event e;
	size_t n = 0;

	for (int i = 0; i < ROUNDS; i++) {
		tare_recording_rewind(r);
		begin = seconds();
		for (n = 0; tare_recording_next(r, &e);)
			n++;
		took = seconds() - begin;
		next = took < next ? took : next;
	}
	printf("all records in one order of time, with what they refer to: %.1f M/s\n", (double)n / next / 1e6);
}

int main(int argc, char **argv)
{
	static struct kind all, kinds[TARE_KIND_NR];
	struct tare_recording *r;
	struct tare_err err = { 0 };

	if (argc != 2 || tare_recording_open(&r, argv[1], &err)) {
		fprintf(stderr, "bench_store REC %s\n", err.text);
		return 2;
	}
	read_records(r, &all, kinds);
	measure("all", &all);
	for (int i = 0; i < TARE_KIND_NR; i++)
		if (kinds[i].n >= 1000)
			measure(tare_record_name((uint16_t)i), &kinds[i]);
	measure_reading(r);
	tare_recording_close(r);
	return 0;
}
