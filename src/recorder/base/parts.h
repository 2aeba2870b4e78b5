/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all parts of the recorder do when something happens to the process. Which parts there are stands in
 * recorder/parts.def; the floor does not know them, and finds these functions where the linker put them. They are called
 * once in the life of a process or of a log, by pointers: nothing here is on a path that a program takes often.
 */
#ifndef TARE_RECORDER_BASE_PARTS_H
#define TARE_RECORDER_BASE_PARTS_H

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
