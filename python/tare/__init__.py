# SPDX-License-Identifier: Apache-2.0
"""Thin adapters around Tare's C libraries. `tare.graphs`: CUDA graphs in constant memory."""
