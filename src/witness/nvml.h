/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVML, the library behind nvidia-smi, as a witness. It is opened at run time, so that Tare needs no
 * NVIDIA file to build or to start.
 *
 * Two kinds of "no" are kept apart. What NVML does not support, does not permit or does not have is
 * a value that is not known (TARE_NOT_KNOWN), and the call succeeds. Anything else is an error.
 */
#ifndef TARE_WITNESS_NVML_H
#define TARE_WITNESS_NVML_H

#include "base/err.h"
#include "record/format.h" /* TARE_NOT_KNOWN */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tare_nvml;

/*
 * Opens and initialises the library at `path`; NULL: libnvidia-ml.so.1 where the loader, WSL and
 * container toolkits keep it. Must not be inherited through a fork: open it again in the child.
 */
int tare_nvml_open(const char *path, struct tare_nvml **out, struct tare_err *err);
void tare_nvml_close(struct tare_nvml *nvml); /* NULL is allowed */

/* What the library says of itself; empty strings and 0 where it does not. */
struct tare_nvml_info {
	const char *path; /* of the library that was loaded */
	char driver[80];  /* "580.159.04" */
	int cuda_version; /* 13000 */
};
const struct tare_nvml_info *tare_nvml_info(const struct tare_nvml *nvml);

/* GPUs first, in NVML's order; then the MIG devices on them. Set at tare_nvml_open(). */
int tare_nvml_device_count(const struct tare_nvml *nvml);

struct tare_nvml_device {
	int index;      /* NVML's, of the GPU; a MIG device has its GPU's */
	int mig;        /* index of the MIG device on that GPU, -1: a whole GPU */
	bool is_sliced; /* a GPU in MIG mode: programs see its MIG devices instead */
	char name[96];
	char uuid[96];   /* "GPU-…" or "MIG-…", empty when not known */
	uint32_t pci_id; /* device << 16 | vendor, 0 when not known */
};
const struct tare_nvml_device *tare_nvml_device(const struct tare_nvml *nvml, int device);

/* The device with this UUID ("GPU-…", "MIG-…"; letter case does not matter), or -1. */
int tare_nvml_find(const struct tare_nvml *nvml, const char *uuid);

/* Which sum the figures obey; checked at every reading, because drivers differ. */
enum tare_nvml_identity {
	TARE_NVML_SUM_NOT_KNOWN, /* neither, or figures are missing */
	TARE_NVML_SUM_APART,     /* total = free + used + reserved */
	TARE_NVML_SUM_INCLUDED,  /* total = free + used: `used` includes the reserve */
};

struct tare_nvml_memory {
	int version;                          /* 2 or 1: the call that answered; 0: none does on this machine */
	uint64_t total, reserved, free, used; /* `used` is what nvidia-smi shows */
	enum tare_nvml_identity identity;
};
int tare_nvml_memory(struct tare_nvml *nvml, int device, struct tare_nvml_memory *out, struct tare_err *err);

struct tare_nvml_process {
	uint32_t pid;  /* in the pid namespace of the driver, that is the host's */
	uint64_t used; /* TARE_NOT_KNOWN on WSL, WDDM, vGPU … */
};

struct tare_nvml_processes {
	int version;                     /* 3, 2 or 1: the call that answered; 0: none does, the list is not known */
	struct tare_nvml_process *items; /* each pid once */
	size_t count;
};
/* Compute, graphics and MPS processes together. `out` is freed with tare_nvml_processes_free(). */
int tare_nvml_processes(struct tare_nvml *nvml, int device, struct tare_nvml_processes *out, struct tare_err *err);
void tare_nvml_processes_free(struct tare_nvml_processes *list);

/* "GPU-12345678-…" as two big-endian halves, as the recorder writes them. */
void tare_nvml_uuid(const char *text, uint64_t *high, uint64_t *low);

#endif
