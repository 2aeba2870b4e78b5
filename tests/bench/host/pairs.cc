// SPDX-License-Identifier: Apache-2.0
// pairs COUNT malloc|new: pairs of calls and nothing else, of 24 to 87 bytes.
#include <cstdlib>
#include <cstring>
#include <new>

int main(int argc, char **argv)
{
	long count = argc > 1 ? atol(argv[1]) : 1000;
	bool is_new = argc > 2 && !strcmp(argv[2], "new");
	void *volatile block;

	for (long i = 0; i < count; i++) {
		size_t bytes = 24 + (size_t)(i & 63);

		if (is_new) {
			block = ::operator new(bytes);
			::operator delete(block);
		} else {
			block = malloc(bytes);
			free(block);
		}
	}
}
