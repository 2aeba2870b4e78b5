/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of a picture share. */
#ifndef TARE_VIEW_PICTURE_PRIVATE_H
#define TARE_VIEW_PICTURE_PRIVATE_H

#include "view/picture.h"

enum {
	TARE_PICTURE_WIDTH = 800,
	TARE_PICTURE_LEFT = 62,    /* of the plots … */
	TARE_PICTURE_PLOT = 484,   /* … and how wide they are */
	TARE_PICTURE_SIDE = 562,   /* where the legend begins */
	TARE_PICTURE_EDGE = 788,   /* where it ends */
	TARE_PICTURE_ROW = 16,     /* of text */
	TARE_PICTURE_HEIGHT = 190, /* of a plot */
};

enum { TARE_PICTURE_SLOTS = 8, TARE_PICTURE_GREY = TARE_PICTURE_SLOTS }; /* colours */

/* A band as it is drawn: one of the history, or several small ones together. */
struct tare_layer {
	const char *key, *label;
	bool is_elastic, is_unexplained;
	int slot;     /* colour */
	int *members; /* bands of the panel */
	int member_nr;
	bool has_more; /* the history has put further ones together already */
};

/* A panel and where it stands. */
struct tare_plot {
	struct tare_str *out;
	const struct tare_picture_run *run;
	const struct tare_memory_history_panel *panel;
	const struct tare_device_ledger *device; /* NULL: the CPU's */
	double top, height;                      /* of the plot itself */
	int64_t from_ns, span_ns, most;          /* where the axis of time begins, and how far they reach */
	struct tare_layer *layers;               /* bottom to top */
	int layer_nr;
};

static inline double tare_plot_x(const struct tare_plot *p, int64_t t_ns)
{
	double x = (double)(t_ns - p->from_ns) / (double)(p->span_ns > 0 ? p->span_ns : 1);

	return TARE_PICTURE_LEFT + TARE_PICTURE_PLOT * (x < 0 ? 0 : x > 1 ? 1 : x);
}

static inline double tare_plot_y(const struct tare_plot *p, int64_t bytes)
{
	return p->top + p->height * (1 - (double)bytes / (double)(p->most ? p->most : 1));
}

/* picture_layers.c: what becomes of the bands */
void tare_layers_build(struct tare_plot *p);
void tare_layers_free(struct tare_plot *p);
int64_t tare_layer_bytes(const struct tare_layer *l, const struct tare_memory_history_point *point);
/* Up to which height the first `layers` of them reach: never below nothing or above `used`. */
int64_t tare_layers_reach(const struct tare_plot *p, const struct tare_memory_history_point *point, int layers);

/* picture_area.c, picture_legend.c */
void tare_picture_areas(const struct tare_plot *p);
void tare_picture_legend(const struct tare_plot *p);
double tare_picture_legend_height(const struct tare_plot *p);

/* picture_bounds.c: time whose events are not there, and what is known of it */
void tare_picture_folded(const struct tare_plot *p);
/* When most was in use, `bytes` left out; false: that is not known. */
bool tare_picture_most(const struct tare_memory_history_panel *panel, struct tare_memory_history_point *out);

/* picture_axes.c */
void tare_picture_axes(const struct tare_plot *p); /* behind everything */
void tare_picture_unknown(const struct tare_plot *p);
void tare_picture_limit(const struct tare_plot *p);
void tare_picture_peak(const struct tare_plot *p);
/* Of the device, or of its card: the memory there is, if the axis reaches to it; else 0. */
int64_t tare_picture_total(const struct tare_device_ledger *d);

/* picture_events.c: above a plot. They return how high they are; `out` NULL: that only. */
double tare_picture_phases(const struct tare_plot *p, double top, bool is_drawn);
double tare_picture_ooms(const struct tare_plot *p, double top, bool is_drawn);

/* "1.9 s", with as many digits as the whole length of the picture calls for */
void tare_picture_time(struct tare_str *out, int64_t t_ns);

#endif
