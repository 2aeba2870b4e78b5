/* SPDX-License-Identifier: Apache-2.0 */
/* The text of /metrics, in OpenMetrics: samples in any order go in, families in the order of metrics.def come out. */
#ifndef TARE_SERVE_METRICS_H
#define TARE_SERVE_METRICS_H

#include "base/map.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

#define TARE_METRIC(KEY, name, type, unit, labels, help) TARE_METRIC_##KEY,
enum tare_metric {
#include "serve/metrics.def"
	TARE_METRIC_NR
};

/* The labels that there are; NULL is "". A family takes those that it names, and no other. */
#define TARE_METRIC_LABELS(X)                                                                                          \
	X(gpu)                                                                                                             \
	X(uuid)                                                                                                            \
	X(recording)                                                                                                       \
	X(pid)                                                                                                             \
	X(rank)                                                                                                            \
	X(row)                                                                                                             \
	X(category)                                                                                                        \
	X(program)                                                                                                         \
	X(state)                                                                                                           \
	X(host)                                                                                                            \
	X(simulated)                                                                                                       \
	X(source)                                                                                                          \
	X(version)                                                                                                         \
	X(UUID)                                                                                                            \
	X(modelName)                                                                                                       \
	X(Hostname)

struct tare_metric_labels {
#define X(name) const char *name;
	TARE_METRIC_LABELS(X)
#undef X
};

struct tare_metric_sample {
	char *series; /* its name and labels */
	int64_t value;
	bool is_time;
};

struct tare_metrics {
	struct tare_metric_family {
		struct tare_metric_sample *samples;
		size_t count, cap;
	} families[TARE_METRIC_NR];
	struct tare_strmap series; /* → which sample of its family */
};

/* No series is there twice, which Prometheus refuses: bytes are added up, of anything else the first stays. */
void tare_metrics_add(struct tare_metrics *m, enum tare_metric metric, const struct tare_metric_labels *labels,
                      int64_t value);
/* In seconds, from nanoseconds. */
void tare_metrics_add_time(struct tare_metrics *m, enum tare_metric metric, const struct tare_metric_labels *labels,
                           int64_t ns);
/* Adds the whole text. */
void tare_metrics_write(const struct tare_metrics *m, struct tare_str *out);
void tare_metrics_free(struct tare_metrics *m);

#endif
