/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the reader of one kind of file needs: the file (struct tare_import_in) and the recording that is made of it
 * (struct tare_import_out). src/import/printed.c is an example.
 */
#ifndef TARE_IMPORT_IMPORT_READER_H
#define TARE_IMPORT_IMPORT_READER_H

#include "base/err.h"
#include "import/import.h"
#include "record/format.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- the file: in.c ---- */

struct tare_import_in;

/* What --from is chosen by: up to TARE_IMPORT_HEAD bytes from the begin of the file. */
enum { TARE_IMPORT_HEAD = 1 << 16 };

/* Is one of the lines that these bytes begin with such a one? Lines behind a NUL byte are not looked at. */
bool tare_import_any_line(const char *head, size_t size, bool (*is_such)(const char *line));

/* "massif.out.4711", "heaptrack.app.4711.zst": the pid in the name of a file; 0: none. */
uint32_t tare_import_pid_of(const char *path);

const char *tare_import_in_path(const struct tare_import_in *in); /* as the user named it */

/* The next `size` bytes, fewer only at the end of the file; or a negative code. */
int64_t tare_import_in_read(struct tare_import_in *in, void *bytes, size_t size, struct tare_err *err);
/*
 * The next line, without its end, good until the next call; a longer one than `TARE_IMPORT_LINE` is cut. 1, 0 at the end of
 * the file, or a negative code. NUL bytes in it are spaces.
 */
enum { TARE_IMPORT_LINE = 1 << 16 };
int tare_import_in_line(struct tare_import_in *in, char **line, struct tare_err *err);
uint64_t tare_import_in_line_nr(const struct tare_import_in *in); /* from 1, of that line */
uint64_t tare_import_in_offset(const struct tare_import_in *in);  /* of the next byte */

/* ---- the recording: out.c ---- */

struct tare_import_out;

/*
 * What the recording says of the program, told once, before anything else is added; what is not told is not known.
 * Without it the program is called as the file is.
 */
struct tare_import_about {
	const char *program, *host;
	uint32_t pid;
	int64_t started_realtime_ns; /* 0: when the file was changed last */
};
void tare_import_about(struct tare_import_out *out, const struct tare_import_about *about);

/*
 * Times are ns since the start, and never go back: an earlier one is taken for the latest that was told. Texts may have
 * any bytes. What cannot be written is told at the end, by tare_import().
 */
uint32_t tare_import_string(struct tare_import_out *out, const char *text); /* its id, never 0 */
/* A GPU; its ordinal. TARE_NOT_KNOWN for what is not. */
int tare_import_device(struct tare_import_out *out, const char *name, int nvml_index, uint64_t total);
/* What is no GPU of its own: a board whose CPU and GPU have one memory, or what of a process was resident. */
int tare_import_board(struct tare_import_out *out, const char *name, uint64_t total);
/* The GPU has `used` bytes in use, from here on. */
void tare_import_used(struct tare_import_out *out, int64_t t_ns, int device, uint64_t used);
/* Where the program has more or less from here on; `place`, `from`: line stacks (import/heap.h), 0: not known. */
struct tare_import_change {
	enum tare_class class; /* PRINTED, HEAP, HEAP_EXTRA, STACKS */
	int64_t bytes;         /* so much more is in use */
	uint32_t place;        /* here */
	uint32_t from;         /* HEAP: and there `moved` bytes less, which are here */
	uint64_t moved;
};
void tare_import_change(struct tare_import_out *out, int64_t t_ns, int device, const struct tare_import_change *change);
int64_t tare_import_now(const struct tare_import_out *out); /* the latest time that was told */
/* That time, or the next one that no record has yet: so records of one time keep the order in which they are added. */
int64_t tare_import_later(const struct tare_import_out *out, int64_t t_ns);
void tare_import_resident(struct tare_import_out *out, int64_t t_ns, uint64_t bytes); /* host memory of the program */
void tare_import_phase(struct tare_import_out *out, int64_t t_ns, enum tare_phase_what what,
                       const char *name); /* name: NULL for POP */
/* The program was still there then; without it, it ended with what was told last. */
void tare_import_until(struct tare_import_out *out, int64_t t_ns);
/* One sentence that is shown with every report: where the figures come from; and what of the file is in no figure. */
void tare_import_remark(struct tare_import_out *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void tare_import_left_out(struct tare_import_out *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Any record of record.def; its stamp is t_ns. */
void tare_import_add(struct tare_import_out *out, int64_t t_ns, void *rec, size_t fixed, const void *tail,
                     size_t tail_size);

/* ---- a kind of file ---- */

struct tare_import_job {
	const struct tare_import_options *options;
	struct tare_import_in *in;
	struct tare_import_out *out;
	struct tare_imported *result; /* `said` is made of the counts where the reader leaves it NULL */
};

/* tare_import_is_NAME: is it such a file, as far as its first bytes tell? tare_import_read_NAME: 0, or a negative code. */
#define TARE_IMPORT(NAME, WHAT)                                                                                        \
	bool tare_import_is_##NAME(const char *head, size_t size);                                                         \
	int tare_import_read_##NAME(struct tare_import_job *job, struct tare_err *err);
#include "import/import.def"

#endif
