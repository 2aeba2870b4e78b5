/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the figures that other tools show, by groups of kinds of memory. */
#include "weigh/explain.h"

#include "base/units.h"
#include "witness/root.h"

#include <string.h>

const char *const tare_figure_names[] = {
#define TARE_FIGURE(KEY, NAME) NAME,
#include "weigh/figure.def"
};

static const char *const keys[] = {
#define TARE_FIGURE(KEY, NAME) #KEY,
#include "weigh/figure.def"
};

void tare_figures_clear(struct tare_figures *f)
{
	for (size_t i = 0; i < TARE_FIGURE_NR; i++)
		f->of[i] = TARE_FIGURE_NOT_KNOWN;
}

static void set(struct tare_figures *f, enum tare_figure figure, uint64_t bytes)
{
	f->of[figure] = bytes <= INT64_MAX ? (int64_t)bytes : TARE_FIGURE_NOT_KNOWN;
}

enum tare_figure tare_figure_of_kind(enum tare_weigh_kind kind)
{
	switch (kind) {
	case TARE_WEIGH_LIBRARIES:
	case TARE_WEIGH_FILES:
	case TARE_WEIGH_KERNEL:
		return TARE_FIGURE_FILES;
	case TARE_WEIGH_SHARED:
		return TARE_FIGURE_SHARED;
	case TARE_WEIGH_PINNED:
	case TARE_WEIGH_MANAGED:
	case TARE_WEIGH_DRIVER:
	case TARE_WEIGH_NVMAP:
	case TARE_WEIGH_DMABUF:
	case TARE_WEIGH_APERTURES:
		return TARE_FIGURE_GPU_MAPPED;
	default:
		return TARE_FIGURE_PRIVATE;
	}
}

void tare_figures_of_process(struct tare_figures *f, const struct tare_weigh_process *p)
{
	for (enum tare_figure i = TARE_FIGURE_FILES; i <= TARE_FIGURE_ROUNDING; i++)
		f->of[i] = 0;
	for (size_t i = 0; i < p->count; i++) {
		const struct tare_weigh_row *r = &p->rows[i];
		enum tare_figure group = tare_figure_of_kind(r->kind);

		if (r->kind == TARE_WEIGH_UNEXPLAINED || r->kind == TARE_WEIGH_ROUNDING) {
			f->of[TARE_FIGURE_ROUNDING] += r->resident;
			continue;
		}
		f->of[group] += (int64_t)r->rss;
		f->of[group - TARE_FIGURE_FILES + TARE_FIGURE_FILES_SHARE] += r->resident - r->swap;
	}
	f->of[TARE_FIGURE_ANONYMOUS] = p->anonymous;
	f->of[TARE_FIGURE_UNIQUE] = p->uss;
	f->of[TARE_FIGURE_SWAP] = p->swap;
	set(f, TARE_FIGURE_VM_RSS, p->vm_rss);
	set(f, TARE_FIGURE_VM_SHARED, p->vm_shared);
	set(f, TARE_FIGURE_NVMAP_PROCESS, p->nvmap);
}

void tare_figures_of_machine(struct tare_figures *f, const struct tare_weigh_machine *m, const char *root)
{
	static const struct {
		enum tare_figure figure;
		const char *key;
	} meminfo[] = {
		{ TARE_FIGURE_MEM_TOTAL, "MemTotal" },
		{ TARE_FIGURE_MEM_FREE, "MemFree" },
		{ TARE_FIGURE_MEM_AVAILABLE, "MemAvailable" },
		{ TARE_FIGURE_BUFFERS, "Buffers" },
		{ TARE_FIGURE_CACHED, "Cached" },
		{ TARE_FIGURE_SLAB_RECLAIMABLE, "SReclaimable" },
		{ TARE_FIGURE_SWAP_TOTAL, "SwapTotal" },
		{ TARE_FIGURE_SWAP_FREE, "SwapFree" },
	};
	struct tare_str text = { 0 };

	tare_root_read(&text, root, "/proc/meminfo");
	for (size_t i = 0; i < sizeof(meminfo) / sizeof(meminfo[0]); i++)
		set(f, meminfo[i].figure, tare_root_kib(tare_str_text(&text), meminfo[i].key));
	tare_str_free(&text);
	f->of[TARE_FIGURE_RAM_USED] = tare_figures_sum(f, "MEM_TOTAL - MEM_FREE - BUFFERS - CACHED");
	if (m->cgroup_count) {
		set(f, TARE_FIGURE_CGROUP, m->cgroups[0].current);
		set(f, TARE_FIGURE_CGROUP_INACTIVE, m->cgroups[0].inactive_file);
	}
}

static enum tare_figure find(const char *word, size_t len)
{
	for (size_t i = 0; i < TARE_FIGURE_NR; i++)
		if (strlen(keys[i]) == len && !memcmp(keys[i], word, len))
			return (enum tare_figure)i;
	return TARE_FIGURE_NR;
}

int tare_figures_parse(const char *sum, struct tare_sum_term terms[TARE_SUM_MOST])
{
	int count = 0, sign = 1;

	for (size_t len; *sum; sum += len) {
		sum += strspn(sum, " ");
		len = strcspn(sum, " ");
		if (len == 1 && (*sum == '+' || *sum == '-')) {
			sign = *sum == '-' ? -1 : 1;
			continue;
		}
		if (count == TARE_SUM_MOST)
			return -1;
		terms[count] = (struct tare_sum_term){ find(sum, len), sign };
		if (terms[count++].figure == TARE_FIGURE_NR)
			return -1;
	}
	return count;
}

int64_t tare_figures_sum(const struct tare_figures *f, const char *sum)
{
	struct tare_sum_term terms[TARE_SUM_MOST];
	int count = tare_figures_parse(sum, terms);
	int64_t total = 0;

	for (int i = 0; i < count; i++) {
		if (f->of[terms[i].figure] == TARE_FIGURE_NOT_KNOWN)
			return TARE_FIGURE_NOT_KNOWN;
		total += terms[i].sign * f->of[terms[i].figure];
	}
	return count > 0 ? total : TARE_FIGURE_NOT_KNOWN;
}

void tare_figures_describe(struct tare_str *out, const struct tare_figures *f, const char *sum)
{
	struct tare_sum_term terms[TARE_SUM_MOST];
	int count = tare_figures_parse(sum, terms);
	size_t start = out->len;
	char text[TARE_UNITS_TEXT_MAX];

	for (int i = 0; i < count; i++) {
		int64_t value = f ? f->of[terms[i].figure] : TARE_FIGURE_NOT_KNOWN;

		if (f && value > -52429 && value < 52429 && value != TARE_FIGURE_NOT_KNOWN && count > 1)
			continue; /* it would show as 0.0 */
		if (out->len > start || terms[i].sign < 0)
			tare_str_add(out, terms[i].sign < 0 ? " - " : " + ");
		tare_str_add(out, tare_figure_names[terms[i].figure]);
		if (value != TARE_FIGURE_NOT_KNOWN)
			tare_str_addf(out, " %s", tare_units_mib(text, value));
	}
	if (out->len == start)
		tare_str_add(out, "0.0");
}
