/* bignum: arithmetic on numbers of some hundred digits, where every intermediate result is a new
 * block.
 *
 * Models computer algebra and the numbers of a language runtime: blocks of 16 to 250 bytes that
 * live for one or two operations, few alive at a time. After "cfrac" (continued fractions with a
 * bignum package) of the Zorn/Berger set. Here: the convergents of the continued fraction of the
 * square roots of many integers.
 */
#include "bench.h"

struct number {
  int length;
  uint32_t digits[]; /* base 2^32, lowest first */
};

static struct number *number_new(int length) {
  struct number *number = malloc(sizeof *number + (size_t)length * sizeof number->digits[0]);
  if (number == NULL) bench_fail("out of memory");
  number->length = length;
  return number;
}

static struct number *number_of(uint32_t value) {
  struct number *number = number_new(1);
  number->digits[0] = value;
  return number;
}

/* left * factor + right, as a new number. */
static struct number *multiply_add(const struct number *left, uint32_t factor,
                                   const struct number *right) {
  int length = left->length > right->length ? left->length : right->length;
  struct number *product = number_new(left->length + 1);
  uint64_t carry = 0;
  for (int i = 0; i < left->length; i++) {
    carry += (uint64_t)left->digits[i] * factor;
    product->digits[i] = (uint32_t)carry;
    carry >>= 32;
  }
  product->digits[left->length] = (uint32_t)carry;
  struct number *sum = number_new(length + 1);
  carry = 0;
  for (int i = 0; i <= length; i++) {
    if (i < product->length) carry += product->digits[i];
    if (i < right->length) carry += right->digits[i];
    sum->digits[i] = (uint32_t)carry;
    carry >>= 32;
  }
  free(product);
  while (sum->length > 1 && sum->digits[sum->length - 1] == 0) sum->length--;
  return sum;
}

static uint64_t number_hash(const struct number *number) {
  uint64_t hash = 0;
  for (int i = 0; i < number->length; i++) hash = bench_mix(hash ^ number->digits[i]);
  return hash;
}

static uint32_t root_of(uint32_t value) {
  uint32_t root = 0;
  while ((root + 1) * (root + 1) <= value) root++;
  return root;
}

/* The convergents of sqrt(value): p[k] = a[k] p[k-1] + p[k-2]. */
static uint64_t convergents(uint32_t value, int terms) {
  uint32_t root = root_of(value), m = 0, d = 1, a = root;
  struct number *before = number_of(1), *now = number_of(root);
  for (int k = 0; k < terms && root * root != value; k++) {
    m = d * a - m;
    d = (value - m * m) / d;
    a = (root + m) / d;
    struct number *next = multiply_add(now, a, before);
    free(before);
    before = now;
    now = next;
  }
  uint64_t hash = number_hash(now);
  free(before);
  free(now);
  return hash;
}

int main(int argc, char **argv) {
  struct bench bench = bench_start(argc, argv, 1);
  long values = bench_scaled(&bench, 36000, 10);
  uint64_t checksum = 0;
  for (long i = 0; i < values; i++) checksum += convergents((uint32_t)(i % 3000) + 2, 400);
  bench_finish(&bench, checksum);
  return 0;
}
