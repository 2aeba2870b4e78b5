/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all parts of the recorder do when something happens to the process. Which parts there are stands in
 * recorder/parts.def; the floor names none of them itself, and finds these functions where the linker put them. They are called
 * once in the life of a process or of a log, by pointers: nothing here is on a path that a program takes often.
 */
#ifndef TARE_RECORDER_BASE_PARTS_H
#define TARE_RECORDER_BASE_PARTS_H

#include <stdbool.h>
#include <stdint.h>

/* What the rows of parts.def name: defined by the parts, called below and by resolve.c. */
#define TARE_PART_READS(name)  void tare_##name##_start(char **envp);
#define TARE_PART_STARTS(name) void tare_##name##_start(void);
#define TARE_PART_FORKED(name) void tare_##name##_forked(void);
#define TARE_PART_OPENED(name) void tare_##name##_opened(void);
#define TARE_PART_DEVICE(name) void tare_##name##_device(int ordinal);
#define TARE_PART_ENDS(name)   void tare_##name##_end(void);
#define TARE_PART_LIBRARY(name, file)                                                                                  \
	bool tare_##name##_is_hooked(const char *symbol);                                                                  \
	void *tare_##name##_swap(const char *symbol, void *found);                                                         \
	void *tare_##name##_needed(const char *symbol, uintptr_t caller);
#include "recorder/parts.def"

struct tare_part_table {
	void (*start)(char **envp);  /* before anything is recorded */
	void (*forked)(void);        /* in a forked child, before its first record */
	void (*opened)(void);        /* the log is open */
	void (*device)(int ordinal); /* the log has the record of a device */
	void (*end)(void);           /* the process ends, and may still record */
};

#define TARE_PARTS_SECTION __attribute__((section("tare_parts"), used))

void tare_parts_start(char **envp);
void tare_parts_forked(void);
void tare_parts_opened(void);
void tare_parts_device(int ordinal);
void tare_parts_end(void);

#endif
