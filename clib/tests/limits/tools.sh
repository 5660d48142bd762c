# valgrind finds nothing wrong with a correct program on Granary, plain and in system mode, and
# finds what is wrong with a faulty one in system mode.
# covers: 11
# needs: valgrind gcc g++
# library: none
# args: {lib}
fail() { echo "$1" >&2; exit 1; }
check="valgrind -q --error-exitcode=9 --trace-children=no"
LD_PRELOAD=$1 $check /bin/true || fail "valgrind of true"
LD_PRELOAD=$1 GRANARY_ALLOC_SYSTEM=1 $check /bin/true || fail "valgrind of true, system mode"
LD_PRELOAD=$1 $check ls / >/dev/null || fail "valgrind of ls"
LD_PRELOAD=$1 GRANARY_ALLOC_SYSTEM=1 $check ls / >/dev/null || fail "valgrind of ls, system mode"
cat >faulty.c <<'END'
#include <stdlib.h>
int main(void)
{
    char *volatile block = malloc(10);
    int odd = block[10] & 1;
    free(block);
    return odd ? 1 : 0;
}
END
gcc -g -O0 -w -o faulty faulty.c || fail "gcc"
LD_PRELOAD=$1 GRANARY_ALLOC_SYSTEM=1 $check ./faulty 2>report
grep -q 'Invalid read of size 1' report ||
  fail "valgrind lost the fault in system mode: $(cat report)"
cat >sized.c <<'END'
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
void free_sized(void *, size_t);
void free_aligned_sized(void *, size_t, size_t);
int main(void)
{
    char *block = reallocarray(NULL, 10, 20);
    memset(block, 1, 200);
    block = reallocarray(block, 100, 30);
    free_sized(block, 3000);
    free_aligned_sized(aligned_alloc(64, 640), 64, 640);
    free(realloc(malloc(100000), 200000));
    return 0;
}
END
cat >classes.cpp <<'END'
#include <map>
#include <memory>
#include <string>
#include <vector>
struct alignas(64) Wide { char bytes[64]; };
int main()
{
    std::map<int, std::string> words;
    for (int i = 0; i < 1000; i++)
        words[i] = std::string(i % 200, 'x');
    std::vector<Wide> wide(100);
    auto array = std::make_unique<Wide[]>(10);
    delete[] new (std::nothrow) int[5];
    return words.size() != 1000;
}
END
gcc -g -w -o sized sized.c "$1" || fail "gcc"
g++ -g -w -o classes classes.cpp || fail "g++"
for program in sized classes; do
  LD_PRELOAD=$1 $check --leak-check=full ./$program || fail "valgrind of $program"
done
