/* SPDX-License-Identifier: Apache-2.0 */
/* Loads GNU libmicrohttpd, and finds its functions. */
#include "serve/library.h"

#include <dlfcn.h>

struct tare_http_library tare_mhd;

int tare_http_library_open(struct tare_err *err)
{
	void *library = dlopen("libmicrohttpd.so.12", RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return tare_err_set(err, TARE_E_NOT_FOUND,
		                    "serve: libmicrohttpd.so.12 is not there, which speaks HTTP for it; install "
		                    "libmicrohttpd12 (Debian, Ubuntu; libmicrohttpd elsewhere), or have "
		                    "tare serve --once write the metrics into a file");
#define X(name)                                                                                                        \
	*(void **)&tare_mhd.name = dlsym(library, #name);                                                                  \
	if (!tare_mhd.name)                                                                                                \
		return tare_err_set(err, TARE_E_UNSUPPORTED,                                                                   \
		                    "serve: libmicrohttpd.so.12 has no " #name "; install a newer one");
	TARE_HTTP_FUNCTIONS(X)
#undef X
	return 0;
}
