/* SPDX-License-Identifier: Apache-2.0 */
/* Draws memory over time as SVG. */
#include "view/picture.h"

#include "base/units.h"
#include "record/format.h"
#include "view/device_text.h"
#include "view/picture_private.h"
#include "view/svg.h"

#include <stdlib.h>

enum { HEAD = 24, FOOT = 30, HEADROOM_PERCENT = 12, LIMIT_PERCENT = 60 };

/* Colours that differ in lightness from their neighbours too, for those who do not see hues. */
static const struct {
	const char *light, *dark;
	const char *ink_light, *ink_dark; /* of a name on it */
} slots[TARE_PICTURE_SLOTS + 1] = {
	{ "#2a78d6", "#3987e5", "#fff", "#fff" },    { "#1baf7a", "#199e70", "#06261a", "#fff" },
	{ "#eda100", "#c98500", "#2b1d00", "#fff" }, { "#eb6834", "#d95926", "#2b0f04", "#fff" },
	{ "#e87ba4", "#d55181", "#33101f", "#fff" }, { "#008300", "#008300", "#fff", "#fff" },
	{ "#4a3aa7", "#9085e9", "#fff", "#14103a" }, { "#e34948", "#e66767", "#fff", "#2d0707" },
	{ "#a9a8a2", "#6f6e69", "#1b1b1a", "#fff" },
};

static void add_slots(struct tare_str *out, bool is_dark)
{
	for (int i = 0; i <= TARE_PICTURE_SLOTS; i++) {
		const char *colour = is_dark ? slots[i].dark : slots[i].light;

		tare_str_addf(out, ".c%d,.s%d{fill:%s}.l%d{stroke:%s}.i%d{fill:%s}\n", i, i, colour, i, colour, i,
		              is_dark ? slots[i].ink_dark : slots[i].ink_light);
	}
}

static void add_style(struct tare_str *out)
{
	tare_str_add(out, "<style>\n"
	                  "text{font:11px system-ui,-apple-system,\"Segoe UI\",Roboto,\"Noto Sans\","
	                  "\"DejaVu Sans\",sans-serif;font-variant-numeric:tabular-nums}\n"
	                  ".h1{font-size:15px;font-weight:600}.b,.n{font-weight:600}\n"
	                  ".grid,.axis,.top,.edge,.mark,.limit,.oom{fill:none}\n"
	                  ".top{stroke-width:.8;opacity:.7}.edge{stroke-dasharray:1 3}.mark{stroke-dasharray:2 2}\n"
	                  ".limit{stroke-dasharray:6 3;stroke-width:1.5}.oom{stroke-width:1.5}\n"
	                  ".halo,[class^=\"n h\"]{paint-order:stroke;stroke-width:3;stroke-linejoin:round}\n"
	                  ".pat{stroke-width:2.4}.s0,.s1,.s2,.s3,.s4,.s5,.s6,.s7,.s8{fill-opacity:.3}\n");
	for (int i = 0; i <= TARE_PICTURE_SLOTS; i++)
		tare_str_addf(out, ".e%d{fill:url(#e%d)}", i, i);
	tare_str_add(out,
	             ".un{fill:url(#un)}.fold{fill:url(#un);opacity:.4}.least{fill-opacity:.45}.band{fill-opacity:.2}\n");
	add_slots(out, false);
	tare_str_add(out, ".bg{fill:#fff}.halo,[class^=\"n h\"]{stroke:#fff}\n"
	                  ".h1,.t,.b,.ph,[class^=\"n h\"]{fill:#1b1b1a}.m{fill:#5c5b57}\n"
	                  ".least,.band{fill:#77766f}.grid{stroke:#e4e3df}.axis{stroke:#8a8984}.top,.peak{stroke:#1b1b1a}\n"
	                  ".peak{fill:#fff}.edge,.mark{stroke:#77766f}.limit{stroke:#5c5b57}\n"
	                  ".oom{stroke:#c01f1f}.oomt{fill:#a81515;font-weight:600}.lu{stroke:#77766f}\n"
	                  ".ph0{fill:#e3e2dd}.ph1{fill:#d2d1ca}.ph2{fill:#c3c9d4}\n"
	                  "@media (prefers-color-scheme:dark){\n");
	add_slots(out, true);
	tare_str_add(out, ".bg{fill:#1a1a19}.halo,[class^=\"n h\"]{stroke:#1a1a19}\n"
	                  ".h1,.t,.b,.ph,[class^=\"n h\"]{fill:#f2f1ed}.m{fill:#b3b2ab}\n"
	                  ".least,.band{fill:#9a9992}.grid{stroke:#34342f}.axis{stroke:#8a8984}.top,.peak{stroke:#f2f1ed}\n"
	                  ".peak{fill:#1a1a19}.edge,.mark{stroke:#9a9992}.limit{stroke:#b3b2ab}\n"
	                  ".oom{stroke:#ff7b72}.oomt{fill:#ff8f87}.lu{stroke:#9a9992}\n"
	                  ".ph0{fill:#3a3a36}.ph1{fill:#494944}.ph2{fill:#3f4757}\n"
	                  "}\n</style>\n");
}

/* Elastic layers are hatched in their colour; what nobody explains is crossed. */
static void add_patterns(struct tare_str *out)
{
	tare_str_add(out, "<defs>\n");
	for (int i = 0; i <= TARE_PICTURE_SLOTS; i++)
		tare_str_addf(out,
		              "<pattern id=\"e%d\" width=\"7\" height=\"7\" patternUnits=\"userSpaceOnUse\" "
		              "patternTransform=\"rotate(45)\"><rect class=\"bg\" width=\"7\" height=\"7\"/>"
		              "<rect class=\"s%d\" width=\"7\" height=\"7\"/>"
		              "<path class=\"l%d pat\" d=\"M0 0V7\"/></pattern>\n",
		              i, i, i);
	tare_str_add(out, "<pattern id=\"un\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">"
	                  "<rect class=\"bg\" width=\"6\" height=\"6\"/>"
	                  "<path class=\"lu\" d=\"M0 0L6 6M6 0L0 6\"/></pattern>\n</defs>\n");
}

/* ---- panels ---- */

/* All panels of one kind reach to the same height. */
static int64_t most_of(const struct tare_picture_run *runs, int run_nr, bool is_device)
{
	int64_t most = 0, total = 0, with_room;

	for (int r = 0; r < run_nr; r++)
		for (int i = 0; i < runs[r].history->panel_nr; i++) {
			const struct tare_memory_history_panel *p = &runs[r].history->panels[i];
			struct tare_memory_history_point peak;
			int64_t there;

			if ((p->device >= 0) != is_device)
				continue;
			for (size_t k = 0; k < p->point_nr; k++)
				most = p->points[k].used > most ? p->points[k].used : most;
			if (tare_picture_most(p, &peak) && peak.used > most)
				most = peak.used;
			there = is_device ? tare_picture_total(&runs[r].ledger->devices[p->device]) : 0;
			total = there > total ? there : total;
		}
	with_room = most + most / 100 * HEADROOM_PERCENT;
	/* The limit is shown where it is near. */
	if (total && most >= total / 100 * LIMIT_PERCENT && with_room < total + total / 100 * HEADROOM_PERCENT)
		with_room = total + total / 100 * HEADROOM_PERCENT;
	return with_room;
}

static bool is_shown(const struct tare_picture_run *run, const struct tare_memory_history_panel *p)
{
	const struct tare_ledger *l = run->ledger;

	return p->device < 0 || p->bound_nr || tare_device_text_is_touched(&l, 1, &l->devices[p->device]);
}

static void add_head(const struct tare_plot *p, double y)
{
	const struct tare_device_ledger *d = p->device;
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };
	char size[TARE_UNITS_TEXT_MAX];

	if (!d) {
		tare_str_add(&text, "CPU · tensors, as many bytes as were asked for");
	} else {
		tare_device_text_number(&text, d, " · ");
		tare_device_text_name(&text, d);
		if (d->total != TARE_NOT_KNOWN)
			tare_str_addf(&text, " · %s", tare_units_human(size, d->total));
		if (d->host)
			tare_str_addf(&text, " · %s", d->host);
	}
	tare_svg_text(p->out,
	              &(struct tare_svg_text){
					  .x = TARE_PICTURE_LEFT, .y = y, .class = "b", .width = TARE_PICTURE_EDGE - TARE_PICTURE_LEFT },
	              tare_str_text(&text));
}

/* Returns where the next one begins. */
static double add_panel(struct tare_plot *p, double y)
{
	double phases = y + HEAD - 10, ooms, bottom, legend;

	tare_layers_build(p);
	p->height = TARE_PICTURE_HEIGHT;
	ooms = phases + tare_picture_phases(p, 0, false);
	p->top = ooms + tare_picture_ooms(p, 0, false);
	add_head(p, y + 8);
	tare_picture_axes(p);
	tare_picture_areas(p);
	tare_picture_unknown(p);
	tare_picture_phases(p, phases, true);
	tare_picture_ooms(p, ooms, true);
	tare_picture_limit(p);
	tare_picture_peak(p);
	tare_picture_legend(p);
	bottom = p->top + p->height + FOOT;
	legend = p->top + tare_picture_legend_height(p);
	tare_layers_free(p);
	return (bottom > legend ? bottom : legend) + 10;
}

static void add_title(struct tare_str *out, const char *text, double y)
{
	tare_svg_text(out,
	              &(struct tare_svg_text){
					  .x = 12, .y = y, .class = "h1", .width = (TARE_PICTURE_EDGE - 12) * 11 / 15. },
	              text);
}

static double add_run(struct tare_str *out, const struct tare_picture_run *run, double y, int64_t from, int64_t span,
                      const int64_t most[2])
{
	int shown = 0;

	add_title(out, run->title, y);
	y += 14;
	for (int i = 0; i < run->history->panel_nr; i++) {
		const struct tare_memory_history_panel *panel = &run->history->panels[i];
		struct tare_plot p = {
			.out = out, .run = run, .panel = panel, .from_ns = from, .span_ns = span, .most = most[panel->device >= 0]
		};

		if (!is_shown(run, panel))
			continue;
		if (panel->device >= 0)
			p.device = &run->ledger->devices[panel->device];
		y = add_panel(&p, y + 8);
		shown++;
	}
	if (shown)
		return y;
	tare_svg_text(out, &(struct tare_svg_text){ .x = 12, .y = y + 8, .class = "m" },
	              "Nothing was recorded that could be drawn: no memory of a GPU, and no tensor.");
	return y + 28;
}

void tare_picture(struct tare_str *out, const struct tare_picture_run *runs, int run_nr)
{
	int64_t most[2] = { most_of(runs, run_nr, false), most_of(runs, run_nr, true) }, from = INT64_MAX, end = 0;
	TARE_FREED_BY(tare_str_free) struct tare_str body = { 0 };
	double y = 26;

	for (int i = 0; i < run_nr; i++) {
		from = runs[i].history->from_ns < from ? runs[i].history->from_ns : from;
		end = runs[i].history->end_ns > end ? runs[i].history->end_ns : end;
	}
	for (int i = 0; i < run_nr; i++)
		y = add_run(&body, &runs[i], y, from, end - from, most) + 14;
	tare_str_addf(out,
	              "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
	              "viewBox=\"0 0 %d %d\" role=\"img\">\n<title>",
	              TARE_PICTURE_WIDTH, (int)y - 10, TARE_PICTURE_WIDTH, (int)y - 10);
	for (int i = 0; i < run_nr; i++) {
		tare_str_add(out, i ? ", " : "Memory over time: ");
		tare_svg_escape(out, runs[i].title);
	}
	tare_str_add(out, "</title>\n");
	add_style(out);
	add_patterns(out);
	tare_str_add(out, "<rect class=\"bg\" width=\"100%\" height=\"100%\"/>\n");
	tare_str_add(out, tare_str_text(&body));
	tare_str_add(out, "</svg>\n");
}
