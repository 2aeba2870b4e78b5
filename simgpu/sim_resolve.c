/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuGetProcAddress: an entry point by its name, the CUDA version that the caller was built for and
 * which default stream it means. Of the versions of a name, the youngest that the caller knows.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"
#include "sim_tell.h"

static int driver_version(void)
{
	int version = 0;

	sim_body_cuDriverGetVersion(&version);
	return version;
}

static bool has_twin(const char *name, int newest)
{
	int i;

	for (i = 0; i < SIM_API_NR; i++)
		if (sim.api[i].ptsz && sim.api[i].version <= newest && strcmp(sim.api[i].name, name) == 0)
			return true;
	return false;
}

static const struct sim_api_row *find(const char *name, int version, bool ptsz, bool *is_known)
{
	const struct sim_api_row *best = NULL;
	int i, newest = driver_version();

	ptsz = ptsz && has_twin(name, newest);
	for (i = 0; i < SIM_API_NR; i++) {
		const struct sim_api_row *row = &sim.api[i];

		if (strcmp(row->name, name) != 0 || row->version > newest || row->ptsz != ptsz)
			continue;
		*is_known = true;
		if (row->version <= version && (!best || row->version > best->version))
			best = row;
	}
	return best;
}

/* As measured: not to find a name is a success that says so in `symbolStatus`. */
CUresult sim_body_cuGetProcAddress_v2(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags,
                                      CUdriverProcAddressQueryResult *symbolStatus)
{
	const struct sim_api_row *row;
	bool is_known = false;

	if (!symbol || !pfn || cudaVersion > driver_version())
		return CUDA_ERROR_INVALID_VALUE;
	row = find(symbol, cudaVersion, flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &is_known);
	*pfn = row ? row->function : NULL;
	if (!row && !is_known && *symbol)
		sim_tell(SIM_TELL_LOOK, symbol, "libcuda.so.1");
	if (!symbolStatus)
		return row ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
	*symbolStatus = row        ? CU_GET_PROC_ADDRESS_SUCCESS
	                : is_known ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
	                           : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
	return CUDA_SUCCESS;
}

CUresult sim_body_cuGetProcAddress(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags)
{
	return sim_body_cuGetProcAddress_v2(symbol, pfn, cudaVersion, flags, NULL);
}

/* Libraries of NVIDIA that have a runtime inside for what needs no device, and go on without. */
static bool goes_on_without(const char *file)
{
	static const char *const names[] = { "libnvrtc", "libnvJitLink", "libcudnn",        "libcupti",
		                                 "libnvvm",  "libnvfatbin",  "libnvptxcompiler" };
	const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(name, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

/*
 * NVIDIA's libcudart takes private tables from here, and so do programs and libraries that have it inside. It is told at
 * the end; on stderr nothing is said unless somebody looks for the reason why a program does not start.
 */
CUresult sim_body_cuGetExportTable(const void **ppExportTable, const CUuuid *pExportTableId)
{
	const char *file = sim_tell_file_of(sim.caller);
	static bool has_said;

	if (!ppExportTable || !pExportTableId)
		return CUDA_ERROR_INVALID_VALUE;
	*ppExportTable = NULL;
	if (file && !goes_on_without(file))
		sim_tell(SIM_TELL_RUNTIME, NULL, file);
	if (!has_said && getenv("TARE_SIM_DEBUG"))
		fputs("simulated GPU: this program, or a library of it, asks the driver for private tables of NVIDIA's "
		      "CUDA runtime, which the simulated driver does not have\n",
		      stderr);
	has_said = true;
	return CUDA_ERROR_NOT_FOUND;
}

CUresult sim_body_cuProfilerStart(void)
{
	return CUDA_SUCCESS;
}

CUresult sim_body_cuProfilerStop(void)
{
	return CUDA_SUCCESS;
}
