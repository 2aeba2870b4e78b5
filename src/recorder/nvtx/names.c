/* SPDX-License-Identifier: Apache-2.0 */
/* Reads texts that a program hands to NVTX, without trusting its pointers. */
#include "recorder/nvtx/names.h"

#include <stddef.h>
#include <string.h>

#include "recorder/base/confined.h"
#include "recorder/base/plib.h"
#include "recorder/base/sys.h"
#include "recorder/recorder.h"
#include "record/clock.h"

#define PAGE  4096u
#define ASKED 64u
#if defined(__x86_64__)
#define MOMENT_SHIFT 23 /* 3 ms of a TSC */
#else
#define MOMENT_SHIFT 16 /* 3 ms of a slow counter, less of a fast one */
#endif
#define DOMAINS      128
#define STRING_SLOTS 8192u /* a power of two */
#define PROBES       32u
#define TEXT_ARENA   (2u << 20) /* of address space; pages come as they are written */

/* Domains are few and live long: found by going through them. */
static struct domain {
	const void *handle;
	char name[64];
} domains[DOMAINS];
static uint32_t domain_nr;

/* Strings that another tool gave handles for; those of ours are the address of the text. */
static struct {
	const void *handle;
	const char *text;
} strings[STRING_SLOTS];

static char *arena;
static uint32_t arena_used;

/* ---- texts ---- */

/*
 * Without a tool NVTX looks at none of them, so a program may go on for years with a pointer that points nowhere. The
 * kernel is asked, 0.1 to 0.2 us for each page, unless the program forbids system calls; a page that could be read is not asked
 * for again in the next few milliseconds. Word: the page, and below its address in which moment that was.
 */
static uint64_t asked[ASKED];

static uint64_t word_of(uintptr_t page)
{
	return (uint64_t)page << 7 | (tare_clock_ticks() >> MOMENT_SHIFT & ((1u << 19) - 1));
}

static bool may_read_page(uintptr_t page)
{
	uint64_t *known = &asked[page / PAGE % ASKED], word = word_of(page);

	if (likely(__atomic_load_n(known, __ATOMIC_RELAXED) == word) || !tare_may_syscall())
		return true;
	if (!page || !tare_sys_is_readable(page))
		return false;
	__atomic_store_n(known, word, __ATOMIC_RELAXED);
	return true;
}

bool tare_nvtx_may_read(const void *at, size_t size)
{
	uintptr_t first = (uintptr_t)at & ~(uintptr_t)(PAGE - 1),
			  last = ((uintptr_t)at + size - 1) & ~(uintptr_t)(PAGE - 1);

	return at && last >= first && may_read_page(first) && (last == first || may_read_page(last));
}

/* As far as its end, which is looked for page by page. */
static bool is_text(const char *text)
{
	const char *at = text;

	do {
		if (((uintptr_t)at & (PAGE - 1)) == 0 || at == text)
			if (!tare_nvtx_may_read(at, 1))
				return false;
	} while (*at++);
	return true;
}

static const char *text_at(const void *text)
{
	return text && is_text(text) ? text : "";
}

/* A code point, as UTF-8; 0 where it does not fit. */
static size_t put(char *out, size_t room, uint32_t c)
{
	size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4, i;

	if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) {
		c = '?';
		n = 1;
	}
	if (n > room)
		return 0;
	if (n == 1) {
		out[0] = (char)c;
		return 1;
	}
	for (i = n; i-- > 1; c >>= 6)
		out[i] = (char)(0x80 | (c & 0x3f));
	out[0] = (char)((0xf00 >> n & 0xf0) | c);
	return n;
}

static bool is_new_page(const nvtx_wchar *at)
{
	return ((uintptr_t)at & (PAGE - 1)) < sizeof(*at) || ((uintptr_t)at & (PAGE - 1)) > PAGE - sizeof(*at);
}

static const char *narrow(const nvtx_wchar *text, char *out)
{
	size_t n = 0, added = 1;
	bool is_first = true;

	while (added) {
		if ((is_first || is_new_page(text)) && !tare_nvtx_may_read(text, sizeof(*text)))
			break;
		is_first = false;
		if (!*text)
			break;
		added = put(out + n, TARE_NVTX_TEXT_MAX - 1 - n, (uint32_t)*text++);
		n += added;
	}
	out[n] = '\0';
	return out;
}

static bool is_of_arena(const void *at)
{
	const char *base = __atomic_load_n(&arena, __ATOMIC_ACQUIRE);

	return base && (const char *)at >= base && (const char *)at < base + TEXT_ARENA;
}

static const char *string_of(nvtx_string handle)
{
	uint32_t i, at = (uint32_t)((uint64_t)(uintptr_t)handle * 0x9e3779b97f4a7c15u >> 40);

	if (!handle)
		return "";
	if (is_of_arena(handle))
		return (const char *)handle;
	for (i = 0; i < PROBES; i++) {
		const void *known = __atomic_load_n(&strings[(at + i) & (STRING_SLOTS - 1)].handle, __ATOMIC_ACQUIRE);

		if (known == handle)
			return strings[(at + i) & (STRING_SLOTS - 1)].text;
		if (!known)
			break;
	}
	return "";
}

static const char *event_text(const struct nvtx_event *e, char *scratch)
{
	if (!tare_nvtx_may_read(e, offsetof(struct nvtx_event, size) + sizeof(e->size)) || e->size < NVTX_EVENT_SIZE ||
	    !tare_nvtx_may_read(e, NVTX_EVENT_SIZE))
		return "";
	switch (e->message_type) {
	case NVTX_MESSAGE_ASCII:
		return text_at(e->message.ascii);
	case NVTX_MESSAGE_UNICODE:
		return e->message.unicode ? narrow(e->message.unicode, scratch) : "";
	case NVTX_MESSAGE_REGISTERED:
		return string_of(e->message.registered);
	}
	return "";
}

const char *tare_nvtx_text(struct tare_nvtx_text text, char scratch[TARE_NVTX_TEXT_MAX])
{
	switch (text.coding) {
	case TARE_NVTX_NONE:
		return NULL;
	case TARE_NVTX_UTF8:
		return text_at(text.at);
	case TARE_NVTX_WIDE:
		return text.at ? narrow(text.at, scratch) : "";
	case TARE_NVTX_EVENT:
		return event_text(text.at, scratch);
	}
	return "";
}

/* ---- handles ---- */

const char *tare_nvtx_domain(nvtx_domain handle)
{
	uint32_t i, nr = __atomic_load_n(&domain_nr, __ATOMIC_ACQUIRE);

	if (!handle)
		return NULL;
	for (i = 0; i < nr && i < DOMAINS; i++)
		if (__atomic_load_n(&domains[i].handle, __ATOMIC_ACQUIRE) == handle)
			return domains[i].name;
	return "?";
}

nvtx_domain tare_nvtx_keep_domain(nvtx_domain handle, struct tare_nvtx_text text)
{
	char scratch[TARE_NVTX_TEXT_MAX];
	const char *name = tare_nvtx_text(text, scratch);
	char cut[sizeof(domains[0].name)];
	uint32_t i, nr = __atomic_load_n(&domain_nr, __ATOMIC_ACQUIRE);

	tare_plib_format(cut, sizeof(cut), "%s", name);
	/* Every library of a program may create the same domain: it is one. */
	for (i = 0; i < nr && i < DOMAINS; i++)
		if (__atomic_load_n(&domains[i].handle, __ATOMIC_ACQUIRE) && tare_plib_equal(domains[i].name, cut) &&
		    (!handle || domains[i].handle == handle))
			return (nvtx_domain)domains[i].handle;
	i = __atomic_fetch_add(&domain_nr, 1, __ATOMIC_ACQ_REL);
	if (i >= DOMAINS) {
		__atomic_store_n(&domain_nr, DOMAINS, __ATOMIC_RELEASE);
		return handle;
	}
	memcpy(domains[i].name, cut, sizeof(cut));
	__atomic_store_n(&domains[i].handle, handle ? (const void *)handle : &domains[i], __ATOMIC_RELEASE);
	return (nvtx_domain)domains[i].handle;
}

static const char *keep_text(const char *text)
{
	size_t bytes = strlen(text) + 1;
	char *base = __atomic_load_n(&arena, __ATOMIC_ACQUIRE), *none = NULL;
	uint32_t at;

	if (bytes > TARE_NVTX_TEXT_MAX)
		bytes = TARE_NVTX_TEXT_MAX;
	if (!base) {
		base =
			tare_sys_mmap(NULL, TEXT_ARENA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (!base)
			return NULL;
		if (!__atomic_compare_exchange_n(&arena, &none, base, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
			tare_sys_munmap(base, TEXT_ARENA);
			base = none;
		}
	}
	if (__atomic_load_n(&arena_used, __ATOMIC_RELAXED) > TEXT_ARENA - TARE_NVTX_TEXT_MAX)
		return NULL;
	at = __atomic_fetch_add(&arena_used, (uint32_t)bytes, __ATOMIC_RELAXED);
	if (at > TEXT_ARENA - TARE_NVTX_TEXT_MAX)
		return NULL;
	tare_plib_format(base + at, bytes, "%s", text);
	return base + at;
}

/* An entry is claimed (1 is nobody's handle), filled in and only then found. */
static void remember(const void *handle, const char *text)
{
	uint32_t i, at = (uint32_t)((uint64_t)(uintptr_t)handle * 0x9e3779b97f4a7c15u >> 40);

	for (i = 0; i < PROBES; i++) {
		uint32_t slot = (at + i) & (STRING_SLOTS - 1);
		const void *none = NULL;

		if (__atomic_load_n(&strings[slot].handle, __ATOMIC_ACQUIRE) == handle)
			return;
		if (!__atomic_compare_exchange_n(&strings[slot].handle, &none, (const void *)1, false, __ATOMIC_ACQ_REL,
		                                 __ATOMIC_ACQUIRE))
			continue;
		strings[slot].text = text;
		__atomic_store_n(&strings[slot].handle, handle, __ATOMIC_RELEASE);
		return;
	}
}

nvtx_string tare_nvtx_keep_string(nvtx_string handle, struct tare_nvtx_text text)
{
	char scratch[TARE_NVTX_TEXT_MAX];
	const char *kept = keep_text(tare_nvtx_text(text, scratch));

	if (!handle)
		return (nvtx_string)kept;
	if (kept)
		remember(handle, kept);
	return handle;
}
