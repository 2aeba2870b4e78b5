/* SPDX-License-Identifier: Apache-2.0 */
/* What the reader of memory snapshots says of a file, in lines, for its tests. */
#ifndef TARE_TESTS_UNIT_SNAPSHOT_READING_H
#define TARE_TESTS_UNIT_SNAPSHOT_READING_H

#include "base/str.h"
#include "snapshot/snapshot.h"
#include "test.h"

/* Texts are lines of protocol 0, so that these files can be read here. */
#define EVENT(MORE)           "}(Vaction\nValloc\nVaddr\nI4096\nVsize\nI512\n" MORE "u"
#define TRACE(EVENTS)         "}(Vsegments\n]Vdevice_traces\n](](" EVENTS "eeu."
#define BLOCK(MORE)           "}(Vsize\nI512\nVstate\nVactive_allocated\n" MORE "u"
#define SEGMENT(MORE, BLOCKS) "}(Vaddress\nI8192\nVtotal_size\nI1024\n" MORE "Vblocks\n](" BLOCKS "eu"
#define SEGMENTS(ITEMS)       "}(Vsegments\n](" ITEMS "eu."
#define STACK                 "](}(Vfilename\nVa.py\nVline\nI3\nVname\nVf\nue"

struct reading {
	struct tare_snapshot *s;
	struct tare_str told;
	struct tare_err err;
	int rc;
};

/* Into `told` of a reading. */
struct tare_snapshot_sink reading_sink(struct reading *r);
void read_bytes(struct reading *r, const void *bytes, size_t size);
void reading_free(struct reading *r);
void check_told(const char *bytes, size_t size, const char *wanted);
void check_fails(const char *bytes, size_t size, int code, const char *says);

#define READ(R, TEXT)                 read_bytes(R, TEXT, sizeof(TEXT) - 1)
#define CHECK_TOLD(TEXT, WANTED)      check_told(TEXT, sizeof(TEXT) - 1, WANTED)
#define CHECK_FAILS(TEXT, CODE, SAYS) check_fails(TEXT, sizeof(TEXT) - 1, TARE_E_##CODE, SAYS)

#endif
