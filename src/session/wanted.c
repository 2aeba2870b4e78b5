/* SPDX-License-Identifier: Apache-2.0 */
/* Makes sentences of what simulated libraries were asked for in vain. */
#include "session/wanted.h"

#include "base/file.h"
#include "simgpu/sim_tell.h"
#include "record/path.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SENTENCES_MAX = 8, NAMES_MAX = 12, BYTES_MAX = 16 << 20 };

struct line {
	char *kind, *name, *file, *place;
};

struct reading {
	struct tare_str *out, looks;
	int sentence_nr, look_nr, more_nr;
	bool has_runtime; /* that looks for every name there is */
};

static void path_of(struct tare_str *out, const char *folder)
{
	tare_str_addf(out, "%s/" TARE_WANTED_FILE, folder);
}

void tare_wanted_make(const char *folder)
{
	TARE_FREED_BY(tare_str_free) struct tare_str path = { 0 };
	int fd;

	path_of(&path, folder);
	fd = open(path.data, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd >= 0)
		close(fd);
}

static char *cut(char **rest)
{
	char *begin = *rest, *tab = begin ? strchr(begin, '\t') : NULL;

	if (tab)
		*tab = '\0';
	*rest = tab ? tab + 1 : NULL;
	return begin ? begin : (char *)"";
}

static const char *file_of(const char *file)
{
	const char *name = tare_path_short(file);

	return *name ? name + (*name == '/') : "the program";
}

static void add_place(struct tare_str *s, const char *place)
{
	if (*place)
		tare_str_addf(s, " (%s)", tare_path_short(place));
}

static void add_runtime(struct tare_str *s, const struct line *l)
{
	const char *file = file_of(l->file);

	if (strstr(l->file, "libcudart"))
		tare_str_addf(s,
		              "%s is NVIDIA's CUDA runtime and not the simulated one: it asks the driver for private tables, "
		              "which the simulated driver does not have, and fails; it has to be loaded by its soname, such as "
		              "libcudart.so.13",
		              file);
	else
		tare_str_addf(s,
		              "%s has NVIDIA's CUDA runtime inside, which asks the driver for private tables; the simulated "
		              "driver has none, so that runtime fails; built with nvcc -cudart shared "
		              "(CMAKE_CUDA_RUNTIME_LIBRARY=Shared) it can be simulated",
		              file);
	add_place(s, l->place);
}

static void add_link(struct tare_str *s, const struct line *l)
{
	tare_str_addf(s, "%s cannot be loaded, for the simulated libraries have no %s", file_of(l->file), l->name);
	add_place(s, l->place);
}

static void add_call(struct tare_str *s, const struct line *l)
{
	tare_str_addf(s, "%s called %s, which the simulated libraries do not have: the call failed", file_of(l->file),
	              l->name);
	add_place(s, l->place);
}

static void take_look(struct reading *r, const struct line *l)
{
	if (r->look_nr < NAMES_MAX)
		tare_str_addf(&r->looks, "%s%s", r->look_nr ? ", " : "", l->name);
	r->look_nr++;
}

static void take(struct reading *r, char *text)
{
	char *rest = text;
	struct line l = { 0 };
	size_t begin = r->out->len;

	l.kind = cut(&rest);
	l.name = cut(&rest);
	l.file = cut(&rest);
	l.place = cut(&rest);
	if (strcmp(l.kind, SIM_TELL_LOOK) == 0) {
		take_look(r, &l);
		return;
	}
	if (r->sentence_nr == SENTENCES_MAX) {
		r->more_nr++;
		return;
	}
	r->has_runtime |= strcmp(l.kind, SIM_TELL_RUNTIME) == 0;
	if (strcmp(l.kind, SIM_TELL_RUNTIME) == 0)
		add_runtime(r->out, &l);
	else if (strcmp(l.kind, SIM_TELL_LINK) == 0)
		add_link(r->out, &l);
	else if (strcmp(l.kind, SIM_TELL_CALL) == 0)
		add_call(r->out, &l);
	if (r->out->len > begin) {
		tare_str_add(r->out, "\n");
		r->sentence_nr++;
	}
}

/* Several processes may tell the same. */
static bool is_new(const char *line, char *const *lines, int n)
{
	for (int i = 0; i < n; i++)
		if (strcmp(lines[i], line) == 0)
			return false;
	return true;
}

static void take_all(struct reading *r, char *text)
{
	enum { LINES_MAX = 256 };
	char *lines[LINES_MAX], *save = NULL;
	int n = 0;

	for (char *line = strtok_r(text, "\n", &save); line && n < LINES_MAX; line = strtok_r(NULL, "\n", &save))
		if (is_new(line, lines, n))
			lines[n++] = line;
	/* is_new() compares whole lines, and take() cuts them. */
	for (int i = 0; i < n; i++)
		take(r, lines[i]);
}

void tare_wanted_read(const char *folder, bool failed, struct tare_str *out)
{
	struct reading r = { .out = out };
	TARE_FREED_BY(tare_str_free) struct tare_str path = { 0 }, text = { 0 };

	path_of(&path, folder);
	if (tare_file_read(&text, path.data, BYTES_MAX, NULL) == 0 && text.len)
		take_all(&r, text.data);
	unlink(path.data);
	if (r.more_nr)
		tare_str_addf(out, "%d more names that the simulated libraries do not have were asked for\n", r.more_nr);
	/* Who looks for more looks for all names there are. */
	if (failed && r.look_nr && r.look_nr <= NAMES_MAX && !r.has_runtime) {
		tare_str_addf(out, "the program failed; it had looked for names that the simulated libraries do not have: %s",
		              tare_str_text(&r.looks));
		tare_str_add(out, "\n");
	}
	tare_str_free(&r.looks);
}
