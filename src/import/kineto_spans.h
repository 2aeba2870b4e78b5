/* SPDX-License-Identifier: Apache-2.0 */
/* What each thread was doing when: operators, functions of Python and modules of a trace of torch.profiler, as lines. */
#ifndef TARE_IMPORT_KINETO_SPANS_H
#define TARE_IMPORT_KINETO_SPANS_H

#include "base/map.h"
#include "base/owned.h"
#include "import/import_reader.h"

enum tare_kineto_what {
	TARE_KINETO_OPERATOR, /* "aten::conv2d" */
	TARE_KINETO_PYTHON,   /* "train.py(12): step" */
	TARE_KINETO_MODULE,   /* "Linear_0", of "nn.Module: Linear_0" */
};

struct tare_kineto_span;
struct tare_kineto_thread;

struct tare_kineto_spans {
	struct tare_import_out *out;
	TARE_OWNED struct tare_kineto_span *items;
	size_t count, cap, next;
	TARE_OWNED struct tare_strmap name_ids;
	TARE_OWNED char **names; /* by id, from 1 */
	size_t name_nr, name_cap, name_bytes;
	uint64_t left_out;                  /* over the limit: what they would name has another line, or none */
	TARE_OWNED struct tare_map modules; /* ids of names of modules */
	TARE_OWNED struct tare_map thread_ids;
	TARE_OWNED struct tare_kineto_thread *threads;
	size_t thread_nr, thread_cap;
	TARE_OWNED struct tare_map lines;  /* name → it is written */
	TARE_OWNED struct tare_map stacks; /* the stack around it and a name → stack */
	uint32_t stack_nr;
};

/* What memory was asked for. */
struct tare_kineto_place {
	uint32_t python; /* its line_stack record; 0: none */
	uint32_t module; /* id of its name; 0: none */
};

/* The id of a name; 0: there are too many. */
uint32_t tare_kineto_spans_id(struct tare_kineto_spans *s, const char *name);
void tare_kineto_spans_add(struct tare_kineto_spans *s, enum tare_kineto_what what, int64_t tid, int64_t begin_ns,
                           int64_t end_ns, const char *name);
/* All times are so much less. */
void tare_kineto_spans_shift(struct tare_kineto_spans *s, int64_t by_ns);
/* When all are added; from here on lines are written. */
void tare_kineto_spans_begin(struct tare_kineto_spans *s, struct tare_import_out *out);
/* What the thread does at that instant; times never go back. */
struct tare_kineto_place tare_kineto_spans_at(struct tare_kineto_spans *s, int64_t tid, int64_t t_ns);
const char *tare_kineto_spans_name(const struct tare_kineto_spans *s, uint32_t id);
/* The next id of a name of a module behind `id`; 0: there is none. */
uint32_t tare_kineto_spans_next_module(const struct tare_kineto_spans *s, uint32_t id);
/* A stack of one line that says this. */
uint32_t tare_kineto_spans_saying(struct tare_kineto_spans *s, const char *text);
TARE_FREES(tare_kineto_spans_free, tare_kineto_spans);

#endif
