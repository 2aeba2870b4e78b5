/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GNU libmicrohttpd, which speaks HTTP for `tare serve`. It is opened at run time, so that nothing else of Tare needs it, and what is
 * installed stays the same with it and without it.
 */
#ifndef TARE_SERVE_LIBRARY_H
#define TARE_SERVE_LIBRARY_H

#include "base/err.h"

#include <microhttpd.h>

#define TARE_HTTP_FUNCTIONS(X)                                                                                         \
	X(MHD_start_daemon)                                                                                                \
	X(MHD_stop_daemon)                                                                                                 \
	X(MHD_run)                                                                                                         \
	X(MHD_get_timeout)                                                                                                 \
	X(MHD_get_daemon_info)                                                                                             \
	X(MHD_get_connection_info)                                                                                         \
	X(MHD_lookup_connection_value)                                                                                     \
	X(MHD_create_response_from_buffer)                                                                                 \
	X(MHD_add_response_header)                                                                                         \
	X(MHD_queue_response)                                                                                              \
	X(MHD_destroy_response)                                                                                            \
	X(MHD_suspend_connection)                                                                                          \
	X(MHD_resume_connection)

struct tare_http_library {
#define X(name) __typeof__(&name) name;
	TARE_HTTP_FUNCTIONS(X)
#undef X
};
extern struct tare_http_library tare_mhd;

/* Once per process. NOT_FOUND: it is not installed. */
int tare_http_library_open(struct tare_err *err);

#endif
