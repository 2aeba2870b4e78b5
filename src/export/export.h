/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A report as a file that another program opens: tare report REC --format NAME -o FILE. One model, made once; a renderer of each
 * format (format.def) writes it down and decides nothing. docs/FORMATS.md says what each shows.
 */
#ifndef TARE_EXPORT_EXPORT_H
#define TARE_EXPORT_EXPORT_H

#include "base/arena.h"
#include "base/err.h"
#include "base/map.h"
#include "base/str.h"
#include "ledger/ledger.h"
#include "ledger/memory_history.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TARE_EXPORT(KEY, NAME, RENDERER, NEEDS, IS_TEXT) TARE_EXPORT_##KEY,
enum tare_export_format {
#include "export/format.def"
	TARE_EXPORT_NR
};

/* What a format needs besides the stacks of an instant. */
enum tare_export_need {
	TARE_EXPORT_END = 1,    /* the stacks of the end */
	TARE_EXPORT_TIME = 2,   /* memory over time */
	TARE_EXPORT_BLOCKS = 4, /* PyTorch's segments and blocks by their addresses */
};

/* A frame: a line of a program, or a row of the ledger. Texts are UTF-8 without what steers a terminal. */
struct tare_export_frame {
	const char *text;     /* "/home/me/train.py:87 in forward", "context" */
	const char *function; /* "forward", "context" */
	const char *file;     /* "": not known */
	const char *module;   /* of native code without lines: "solver"; else "" */
	uint32_t line;        /* 0: not known */
	bool is_row;          /* of the ledger, or the name of a GPU */
};

/* What PyTorch's allocators did with blocks and segments up to the moment (blocks.h). */
struct tare_export_blocks;

/*
 * What stands at one place: a row of the ledger, and where in the program that was asked for, if that is known. Every byte stands
 * once: `bytes` of a device sum to what is in use on it.
 */
struct tare_export_sample {
	const uint32_t *frames; /* into `frames` of the stacks, the outermost first */
	uint32_t frame_nr;
	const struct tare_device_ledger *device; /* NULL: tensors on the CPU */
	enum tare_evidence evidence;
	int64_t pid; /* -1: of no process, or of several */
	int64_t bytes;
	uint64_t count;
	/* All that was handed out here until the instant. Of what only the present is known, as much as that. */
	int64_t ever_bytes;
	uint64_t ever;
	bool is_of_pool; /* it lies in segments of PyTorch's allocator */
};

/* So many stacks have samples of their own; the others of a device are one, so that sums stay. */
enum { TARE_EXPORT_STACKS_MAX = 20000 };

struct tare_export_stacks {
	struct tare_export_frame *frames;
	size_t frame_nr, frame_cap;
	struct tare_export_sample *samples; /* by device, then the largest first; those of the CPU last */
	size_t nr, cap;
	size_t left_out; /* stacks that are in a sample with others */
	struct tare_strmap numbers;
	struct tare_arena arena;
};

/* Into an empty one. */
void tare_export_stacks_build(struct tare_export_stacks *out, const struct tare_ledger *ledger);
void tare_export_stacks_free(struct tare_export_stacks *stacks);
/* "GPU 0 NVIDIA H200", "CPU tensors" */
void tare_export_device_name(struct tare_str *out, const struct tare_device_ledger *device);

struct tare_export {
	const char *title; /* its programs, and the recording */
	int64_t began_ns;  /* when the recording began, since 1970; 0: not known */
	const struct tare_ledger *ledger;
	const struct tare_export_stacks *stacks; /* of the ledger */
	/* END: */
	const struct tare_ledger *end_ledger;
	const struct tare_export_stacks *end;
	/* TIME: */
	const struct tare_memory_history *by_account, *by_category; /* by_category NULL: no tensors */
	/* BLOCKS: */
	const struct tare_export_blocks *blocks;
	/* Sentences on what is not in the file as it was: added by the model and by the renderer, each with a line end. */
	struct tare_str notes;
};

typedef int tare_export_render(struct tare_str *out, struct tare_export *x, struct tare_err *err);

#define TARE_EXPORT(KEY, NAME, RENDERER, NEEDS, IS_TEXT) tare_export_render RENDERER;
#include "export/format.def"

struct tare_export_info {
	const char *name;
	tare_export_render *render;
	int needs;
	bool is_text;
};
extern const struct tare_export_info tare_exports[TARE_EXPORT_NR];

/* What is said of every file: adds a note where stacks were put together. */
void tare_export_note_stacks(struct tare_export *x);
/* A sentence for `notes`. */
void tare_export_note(struct tare_export *x, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
