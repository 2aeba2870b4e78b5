/* SPDX-License-Identifier: Apache-2.0 */
/* Where tare was built without microhttpd.h. */
#include "serve/http.h"

int tare_http_serve(struct tare_gather *g, const struct tare_http_options *o, struct tare_err *err)
{
	(void)g;
	(void)o;
	return tare_err_set(err, TARE_E_UNSUPPORTED,
	                    "serve: this tare was built without libmicrohttpd: install "
	                    "libmicrohttpd-dev and build it again, or have tare serve --once write the "
	                    "metrics into a file");
}
