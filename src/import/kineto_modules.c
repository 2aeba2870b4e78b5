/* SPDX-License-Identifier: Apache-2.0 */
/* Follows which module of PyTorch a thread of a trace is in. */
#include "import/kineto_modules.h"

#include "base/str.h"

#include <string.h>

/* The trace has no addresses of modules: the number of the name stands for one. */
static uint64_t address_of(uint32_t module)
{
	return (uint64_t)module << 4;
}

/* PyTorch puts a number behind the name of the class, which may end with a number of its own: "Block_2_0". */
static size_t class_length(const char *name)
{
	size_t end = strlen(name), from = end;

	while (from && name[from - 1] >= '0' && name[from - 1] <= '9')
		from--;
	return from < end && from > 1 && name[from - 1] == '_' ? from - 1 : end;
}

static uint32_t class_of(const struct tare_kineto_modules *m, uint32_t module)
{
	const char *name = tare_kineto_spans_name(m->spans, module);
	TARE_FREED_BY(tare_str_free) struct tare_str class = { 0 };

	tare_str_add_n(&class, name, class_length(name));
	return tare_import_string(m->out, tare_str_text(&class));
}

static void tell(const struct tare_kineto_modules *m, uint32_t module)
{
	struct tare_rec_module found = { .head = { .kind = TARE_KIND_MODULE },
		                             .at = address_of(module),
		                             .class = class_of(m, module) };
	struct tare_rec_scanned named = { .head = { .kind = TARE_KIND_SCANNED },
		                              .at = address_of(module),
		                              .name = tare_import_string(m->out, tare_kineto_spans_name(m->spans, module)),
		                              .role = TARE_SCANNED_MODULE };

	tare_import_add(m->out, 0, &found, sizeof(found), NULL, 0);
	tare_import_add(m->out, 0, &named, sizeof(named), NULL, 0);
}

/* As a look through the program's objects would; which module is in which the trace does not tell. */
void tare_kineto_modules_begin(struct tare_kineto_modules *m, const struct tare_kineto_spans *spans,
                               struct tare_import_out *out)
{
	struct tare_rec_scan rec = { .head = { .kind = TARE_KIND_SCAN }, .flags = TARE_SCAN_MODULES };

	*m = (struct tare_kineto_modules){ .spans = spans, .out = out };
	for (uint32_t id = 0; (id = tare_kineto_spans_next_module(spans, id)); rec.entries++)
		tell(m, id);
	rec.objects = rec.entries;
	if (rec.entries)
		tare_import_add(out, 0, &rec, sizeof(rec), NULL, 0);
}

void tare_kineto_modules_enter(struct tare_kineto_modules *m, const struct tare_kineto_from *from, uint32_t module)
{
	struct tare_rec_module rec = { .head = { .kind = TARE_KIND_MODULE }, .at = address_of(module), .tid = from->tid };
	uint64_t *last = tare_map_put(&m->of_thread, from->tid, NULL);

	m->is_any = true;
	if (*last == module)
		return;
	*last = module;
	rec.class = class_of(m, module);
	tare_import_add(m->out, from->t_ns, &rec, sizeof(rec), NULL, 0);
}

void tare_kineto_modules_free(struct tare_kineto_modules *m)
{
	tare_map_free(&m->of_thread);
}
