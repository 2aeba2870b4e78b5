/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_RECORDER_ELF_OBJECTS_H
#define TARE_RECORDER_ELF_OBJECTS_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Which object (program, library, vdso) holds an address. A list of the loaded objects is kept,
 * readable without a lock, and brought up to date when the dynamic linker's counters of loads and
 * unloads have moved. Entries are copies that are never freed, so an answer that is stale because
 * of a dlclose a moment ago is wrong at worst, never a crash.
 */
struct tare_elf_object {
	uintptr_t base;       /* what is added to the addresses in the file */
	uintptr_t begin, end; /* of all that is mapped; there may be holes */
	const char *path;     /* never freed; "" when the linker has none */
	uint8_t build_id[32]; /* zero behind build_id_size */
	uint8_t build_id_size;
	/* Memory of the object itself: read only while it is known to stay loaded. */
	const ElfW(Phdr) * phdr;
	uint16_t phnum;
	const ElfW(Dyn) * dynamic; /* NULL in a static program */
};

/* Addresses of code: from begin to before end. */
struct tare_code {
	uintptr_t begin, end;
};

/*
 * The object that holds `addr`. Without a lock when it is in the list; otherwise the linker is
 * asked. Returns false when there is none.
 */
bool tare_elf_object_at(const void *addr, struct tare_elf_object *out);

/*
 * The PT_LOAD segment of `obj` that holds `addr` and has all of `flags` (PF_R, PF_X). The pointers
 * are written on success only.
 */
bool tare_elf_segment(const struct tare_elf_object *obj, uintptr_t addr, uint32_t flags, const uint8_t **begin,
                      const uint8_t **end);

/*
 * Calls fn while the dynamic linker keeps everything mapped: with the object that holds `addr`, or
 * NULL when no object does. fn must be short, and may not call the dynamic linker. Returns false,
 * without calling fn, when the linker cannot be asked: from a signal handler that interrupted us,
 * and after a fork that may have copied its lock in a locked state.
 */
typedef void (*tare_objects_fn)(const struct tare_elf_object *obj, void *arg);
bool tare_objects_with(uintptr_t addr, tare_objects_fn fn, void *arg);

/* What is remembered about code is valid only under the number it was learned under. */
struct tare_objects_epoch {
	uint64_t unloads; /* moves when an object has gone */
	uint64_t changes; /* moves when any has come or gone */
};
extern struct tare_objects_epoch tare_objects_now;

static inline struct tare_objects_epoch tare_objects_epoch(void)
{
	struct tare_objects_epoch epoch;

	epoch.unloads = __atomic_load_n(&tare_objects_now.unloads, __ATOMIC_ACQUIRE);
	epoch.changes = __atomic_load_n(&tare_objects_now.changes, __ATOMIC_RELAXED);
	return epoch;
}

/* Call from a hook of dlclose, after the real one: everything remembered is forgotten at once. */
void tare_objects_changed(void);

/* Compares the linker's counters now (about 10 ns and the linker's lock)... */
void tare_objects_check(void);

/* ...or on one call in 64 of this thread: for frequent paths, which would contend for that lock. */
void tare_objects_poll(void);

/*
 * From avoid_lock() to avoided_lock(), which gets its result, this thread does not take the linker's lock: for what may
 * run with any lock of the program held, as an allocation of memory does. Nothing is brought up to date then, and
 * tare_objects_with() asks _dl_find_object(), which needs no lock; what fn is called with must stay loaded by itself, as
 * what a frame of the calling thread's stack is in does. Of a glibc before 2.35, which has no such function, it returns
 * false. A signal handler in between may do the same; if it leaves by longjmp, the thread
 * avoids the lock from then on.
 */
bool tare_objects_avoid_lock(void);
void tare_objects_avoided_lock(bool before);

/*
 * hide.c: from here on the dynamic linker finds these functions in no look-up: what is loaded later gets them from where it
 * would without us. `own` is the object that we are in; only while there is one thread. Where the entries cannot be
 * written, they stay.
 */
void tare_elf_hide(const struct tare_elf_object *own, const char *const *names, int nr);

#endif
