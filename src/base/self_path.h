/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_BASE_SELF_PATH_H
#define TARE_BASE_SELF_PATH_H

#include <stddef.h>

/*
 * Where the running `tare` keeps its own files. Nothing is compiled in: the folder of
 * /proc/self/exe decides, so a copied dist folder and a build folder both work, spaces included.
 *
 *                      dist / installed             build folder
 *   tare               bin/tare                     tare
 *   RECORDER           lib/tare/libtare_recorder.so src/recorder/libtare_recorder.so
 *   RECORDER_HOST      lib/tare/libtare_recorder_host.so src/recorder/libtare_recorder_host.so
 *   SIM_DIR            lib/tare/simgpu              simgpu
 *   SIM_PROFILES       lib/tare/simgpu/profiles     simgpu/profiles
 *   EXAMPLES           lib/tare/examples            examples
 *
 * A wheel has what is in lib/tare inside the Python package, as tare/tare-VERSION: so pip install --target
 * keeps it, and pip uninstall leaves no empty folder. The installed layouts are tried first. SIM_DIR holds
 * libcuda.so.1 and libnvidia-ml.so.1.
 */
enum tare_self_file {
	TARE_SELF_RECORDER,
	TARE_SELF_RECORDER_HOST,
	TARE_SELF_SIM_DIR,
	TARE_SELF_SIM_PROFILES,
	TARE_SELF_EXAMPLES,
};

/*
 * Writes the absolute path of FILE to buf. Returns 0, or -ENOENT when it is in neither layout
 * (buf then holds the path of the build layout, for the message), or another negative errno.
 */
int tare_self_path(enum tare_self_file file, char *buf, size_t size);

/* The same for an executable folder given by the caller (tests). */
int tare_self_path_from(const char *exe_dir, enum tare_self_file file, char *buf, size_t size);

/* The folder of the running executable, without a trailing slash. Returns 0 or a negative errno. */
int tare_self_dir(char *buf, size_t size);

#endif
