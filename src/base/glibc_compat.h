/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_BASE_GLIBC_COMPAT_H
#define TARE_BASE_GLIBC_COMPAT_H
#endif
