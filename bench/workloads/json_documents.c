/* json_documents: documents are parsed from text into nodes, changed, written to text again and
 * dropped.
 *
 * Models a web service. A node is one block; keys and strings are blocks of their own; arrays and
 * the output text grow by realloc. All of a document is freed at once, in the order of the tree,
 * after the next one was parsed.
 */
#include "bench.h"

enum kind { NUMBER, TEXT, LIST, OBJECT };

struct node {
  enum kind kind;
  char *key;
  char *text;
  double number;
  struct node **items;
  int count;
  int capacity;
};

struct writer {
  char *text;
  size_t used;
  size_t capacity;
};

static void append(struct writer *writer, const char *text, size_t length) {
  if (writer->used + length + 1 > writer->capacity) {
    writer->capacity = (writer->used + length + 1) * 2;
    writer->text = realloc(writer->text, writer->capacity);
    if (writer->text == NULL) bench_fail("out of memory");
  }
  memcpy(writer->text + writer->used, text, length);
  writer->used += length;
  writer->text[writer->used] = 0;
}

static void append_text(struct writer *writer, const char *text) {
  append(writer, text, strlen(text));
}

static struct node *node_new(enum kind kind) {
  struct node *node = calloc(1, sizeof *node);
  if (node == NULL) bench_fail("out of memory");
  node->kind = kind;
  return node;
}

static void add(struct node *parent, struct node *item) {
  if (parent->count == parent->capacity) {
    parent->capacity = parent->capacity == 0 ? 4 : parent->capacity * 2;
    parent->items = realloc(parent->items, (size_t)parent->capacity * sizeof *parent->items);
    if (parent->items == NULL) bench_fail("out of memory");
  }
  parent->items[parent->count++] = item;
}

static void drop(struct node *node) {
  for (int i = 0; i < node->count; i++) drop(node->items[i]);
  free(node->items);
  free(node->key);
  free(node->text);
  free(node);
}

static char *parse_text(const char **at) {
  const char *end = strchr(++*at, '"');
  char *text = strndup(*at, (size_t)(end - *at));
  if (text == NULL) bench_fail("out of memory");
  *at = end + 1;
  return text;
}

static struct node *parse(const char **at) {
  if (**at == '"') {
    struct node *node = node_new(TEXT);
    node->text = parse_text(at);
    return node;
  }
  if (**at != '[' && **at != '{') {
    struct node *node = node_new(NUMBER);
    char *end;
    node->number = strtod(*at, &end);
    *at = end;
    return node;
  }
  struct node *node = node_new(**at == '[' ? LIST : OBJECT);
  char close = **at == '[' ? ']' : '}';
  ++*at;
  while (**at != close) {
    if (**at == 0) {
      fprintf(stderr, "granary bench: json_documents: a document was cut off\n");
      exit(2);
    }
    char *key = NULL;
    if (node->kind == OBJECT) {
      key = parse_text(at);
      ++*at; /* the colon */
    }
    struct node *item = parse(at);
    item->key = key;
    add(node, item);
    if (**at == ',') ++*at;
  }
  ++*at;
  return node;
}

static void write_node(struct writer *writer, const struct node *node) {
  char number[40];
  if (node->key != NULL) {
    append(writer, "\"", 1);
    append(writer, node->key, strlen(node->key));
    append(writer, "\":", 2);
  }
  switch (node->kind) {
  case NUMBER:
    append(writer, number, (size_t)snprintf(number, sizeof number, "%d", (int)node->number));
    return;
  case TEXT:
    append(writer, "\"", 1);
    append(writer, node->text, strlen(node->text));
    append(writer, "\"", 1);
    return;
  default:
    append(writer, node->kind == LIST ? "[" : "{", 1);
    for (int i = 0; i < node->count; i++) {
      if (i > 0) append(writer, ",", 1);
      write_node(writer, node->items[i]);
    }
    append(writer, node->kind == LIST ? "]" : "}", 1);
  }
}

/* A document as a client would send it: an order with some lines. */
static char *make_request(struct bench_random *random, long number) {
  struct writer writer = {NULL, 0, 0};
  char piece[400];
  snprintf(piece, sizeof piece, "{\"order\":%ld,\"customer\":{\"name\":\"", number);
  append_text(&writer, piece);
  int length = (int)bench_skewed(random, 5, 60);
  for (int i = 0; i < length; i++) append(&writer, &"abcdefghijklmnop"[bench_below(random, 16)], 1);
  append_text(&writer, "\",\"city\":\"Springfield\"},\"lines\":[");
  int lines = (int)bench_skewed(random, 2, 120);
  for (int i = 0; i < lines; i++) {
    if (i > 0) append(&writer, ",", 1);
    uint32_t article = bench_below(random, 100000), amount = bench_below(random, 20);
    uint32_t price = bench_below(random, 1000);
    int size =
        snprintf(piece, sizeof piece,
                 "{\"article\":\"A-%u\",\"amount\":%u,\"prices\":[%u,%u,%u],\"note\":\"%.*s\"}",
                 article, amount, price, price / 2, price / 3, (int)bench_skewed(random, 1, 120),
                 "please handle with care and deliver to the back door between nine and eleven in "
                 "the morning,"
                 " thank you very much indeed");
    append(&writer, piece, (size_t)size);
  }
  append(&writer, "]}", 2);
  return writer.text;
}

static uint64_t text_hash(const char *text) {
  uint64_t hash = 14695981039346656037u;
  for (; *text != 0; text++) hash = (hash ^ (unsigned char)*text) * 1099511628211u;
  return hash;
}

int main(int argc, char **argv) {
  struct bench bench = bench_start(argc, argv, 1);
  struct bench_random random = bench_seed(27);
  long documents = bench_scaled(&bench, 20000, 20);
  struct node *previous = NULL;
  uint64_t checksum = 0;
  for (long i = 0; i < documents; i++) {
    char *request = make_request(&random, i);
    const char *at = request;
    struct node *document = parse(&at);
    struct node *status = node_new(TEXT);
    status->key = strdup("status");
    status->text = strdup(i % 2 == 0 ? "accepted" : "the article is out of stock");
    add(document, status);
    struct writer reply = {NULL, 0, 0};
    write_node(&reply, document);
    checksum += text_hash(reply.text);
    free(reply.text);
    free(request);
    if (previous != NULL) drop(previous);
    previous = document;
  }
  if (previous != NULL) drop(previous);
  bench_finish(&bench, checksum);
  return 0;
}
