/* SPDX-License-Identifier: Apache-2.0 */
/* Packs bytes and numbers into memory that grows, with and without compression, and reads them back within bounds. */
#include "store/pack.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum {
	LEVEL = 3,
	ZIP_MIN = 24, /* shorter ones do not become shorter */
};

void tare_pack_free(struct tare_pack *p)
{
	free(p->data);
	*p = (struct tare_pack){ 0 };
}

uint8_t *tare_pack_room(struct tare_pack *p, size_t size)
{
	p->data = tare_array_reserve(p->data, &p->cap, p->len + size + 1, 1); /* never NULL */
	return p->data + p->len;
}

void tare_pack_bytes(struct tare_pack *p, const void *bytes, size_t size)
{
	if (size == 0)
		return;
	memcpy(tare_pack_room(p, size), bytes, size);
	p->len += size;
}

void tare_pack_number(struct tare_pack *p, uint64_t v)
{
	uint8_t *at = tare_pack_room(p, TARE_VARINT_MAX);

	p->len += (size_t)(tare_varint_put(at, v) - at);
}

/* One context for all uses: making one takes longer than most uses of it. */
static ZSTD_CCtx *zipper(void)
{
	static ZSTD_CCtx *one;

	if (!one)
		one = ZSTD_createCCtx();
	return one;
}

static ZSTD_DCtx *unzipper(void)
{
	static ZSTD_DCtx *one;

	if (!one)
		one = ZSTD_createDCtx();
	return one;
}

void tare_pack_zipped(struct tare_pack *p, const void *bytes, size_t size)
{
	size_t most = ZSTD_compressBound(size), n = size;
	TARE_FREED_BY(tare_pack_free) struct tare_pack zipped = { 0 };

	if (size >= ZIP_MIN && zipper())
		n = ZSTD_compressCCtx(zipper(), tare_pack_room(&zipped, most), most, bytes, size, LEVEL);
	tare_pack_number(p, size);
	if (ZSTD_isError(n) || n >= size) {
		tare_pack_number(p, 0);
		tare_pack_bytes(p, bytes, size);
	} else {
		tare_pack_number(p, n);
		tare_pack_bytes(p, zipped.data, n);
	}
}

uint64_t tare_unpack_number(struct tare_unpack *u)
{
	uint8_t last[TARE_VARINT_MAX] = { 0 };
	const uint8_t *from = u->at, *behind;
	size_t left = (size_t)(u->end - u->at);
	uint64_t v;

	if (left < sizeof(last)) {
		if (left)
			memcpy(last, u->at, left);
		from = last;
	}
	behind = tare_varint_get(from, &v);
	if (u->is_bad || (size_t)(behind - from) > left) {
		u->is_bad = true;
		return 0;
	}
	u->at += behind - from;
	return v;
}

const uint8_t *tare_unpack_bytes(struct tare_unpack *u, size_t size)
{
	const uint8_t *at = u->at;

	if (u->is_bad || size > (size_t)(u->end - u->at)) {
		u->is_bad = true;
		return NULL;
	}
	u->at += size;
	return at;
}

bool tare_unpack_zipped(struct tare_unpack *u, struct tare_pack *to, size_t limit)
{
	uint64_t size = tare_unpack_number(u), zipped = tare_unpack_number(u);
	const uint8_t *from = tare_unpack_bytes(u, zipped ? zipped : size);

	to->len = 0;
	if (!from || size > limit) {
		u->is_bad = true;
		return false;
	}
	memset(tare_pack_room(to, size + TARE_VARINT_MAX) + size, 0, TARE_VARINT_MAX);
	if (!zipped)
		memcpy(to->data, from, size);
	else if (!unzipper() || ZSTD_decompressDCtx(unzipper(), to->data, size, from, zipped) != size)
		u->is_bad = true;
	to->len = size;
	return !u->is_bad;
}

void tare_unpack_skip_zipped(struct tare_unpack *u)
{
	uint64_t size = tare_unpack_number(u), zipped = tare_unpack_number(u);

	tare_unpack_bytes(u, zipped ? zipped : size);
}

#define P1 UINT64_C(0x9E3779B185EBCA87)
#define P2 UINT64_C(0xC2B2AE3D27D4EB4F)
#define P3 UINT64_C(0x165667B19E3779F9)
#define P4 UINT64_C(0x85EBCA77C2B2AE63)
#define P5 UINT64_C(0x27D4EB2F165667C5)

static uint64_t rotate(uint64_t v, int bits)
{
	return v << bits | v >> (64 - bits);
}

static uint64_t word(const uint8_t *at, int bytes)
{
	uint64_t v = 0;

	for (int i = bytes; i-- > 0;)
		v = v << 8 | at[i];
	return v;
}

static uint64_t mixed(uint64_t sum, uint64_t input)
{
	return rotate(sum + input * P2, 31) * P1;
}

uint64_t tare_checksum(const void *bytes, size_t size)
{
	uint64_t lane[4] = { P1 + P2, P2, 0, 0 - P1 }, sum = P5;
	const uint8_t *at = bytes, *end = at + size;

	if (size >= 32) {
		for (; end - at >= 32; at += 32)
			for (int i = 0; i < 4; i++)
				lane[i] = mixed(lane[i], word(at + 8 * i, 8));
		sum = rotate(lane[0], 1) + rotate(lane[1], 7) + rotate(lane[2], 12) + rotate(lane[3], 18);
		for (int i = 0; i < 4; i++)
			sum = (sum ^ mixed(0, lane[i])) * P1 + P4;
	}
	sum += size;
	for (; end - at >= 8; at += 8)
		sum = rotate(sum ^ mixed(0, word(at, 8)), 27) * P1 + P4;
	if (end - at >= 4) {
		sum = rotate(sum ^ word(at, 4) * P1, 23) * P2 + P3;
		at += 4;
	}
	for (; at < end; at++)
		sum = rotate(sum ^ *at * P5, 11) * P1;
	sum = (sum ^ sum >> 33) * P2;
	sum = (sum ^ sum >> 29) * P3;
	return sum ^ sum >> 32;
}
