#include "calc.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct array {
	int64_t count;
	int64_t items[];
};

struct machine {
	int64_t stack[256];
	size_t top;
	int64_t *variables;
	struct array **arrays;
	size_t array_count, array_room;
};

static int64_t pop(struct machine *m)
{
	if (m->top == 0)
		fail(0, "the stack is empty");
	return m->stack[--m->top];
}

static void push(struct machine *m, int64_t value)
{
	if (m->top == sizeof m->stack / sizeof *m->stack)
		fail(0, "the stack is full");
	m->stack[m->top++] = value;
}

static void new_array(struct machine *m)
{
	int64_t count = pop(m);
	if (count < 0 || count > 100000000)
		fail(0, "an array of this length cannot be made");
	m->arrays = grow(m->arrays, m->array_count, &m->array_room, sizeof *m->arrays);
	struct array *array = calloc(1, sizeof *array + (size_t)count * sizeof *array->items);
	if (!array)
		fail(0, "out of memory");
	array->count = count;
	m->arrays[m->array_count] = array;
	push(m, (int64_t)m->array_count++);
}

static int64_t *element(struct machine *m)
{
	int64_t index = pop(m), which = pop(m);
	if (which < 0 || (size_t)which >= m->array_count)
		fail(0, "this is no array");
	if (index < 0 || index >= m->arrays[which]->count)
		fail(0, "the index is outside the array");
	return &m->arrays[which]->items[index];
}

static int64_t calculate(enum operation operation, int64_t a, int64_t b)
{
	switch (operation) {
	case OP_ADD:
		return (int64_t)((uint64_t)a + (uint64_t)b);
	case OP_SUBTRACT:
		return (int64_t)((uint64_t)a - (uint64_t)b);
	case OP_MULTIPLY:
		return (int64_t)((uint64_t)a * (uint64_t)b);
	case OP_EQUAL:
		return a == b;
	case OP_LESS:
		return a < b;
	default:
		if (b == 0)
			fail(0, "division by zero");
		return operation == OP_DIVIDE ? a / b : a % b;
	}
}

/* Does one instruction; gives the place of the next. */
static size_t step(struct machine *m, const struct code *code, size_t at)
{
	struct instruction now = code->items[at];
	int64_t a, b;
	switch (now.operation) {
	case OP_CONSTANT:
		push(m, now.operand);
		break;
	case OP_LOAD:
		push(m, m->variables[now.operand]);
		break;
	case OP_STORE:
		m->variables[now.operand] = pop(m);
		break;
	case OP_ARRAY:
		new_array(m);
		break;
	case OP_LOAD_AT:
		push(m, *element(m));
		break;
	case OP_STORE_AT:
		a = pop(m);
		*element(m) = a;
		break;
	case OP_JUMP:
		return (size_t)now.operand;
	case OP_JUMP_IF_ZERO:
		return pop(m) ? at + 1 : (size_t)now.operand;
	case OP_PRINT:
		printf("%" PRId64 "\n", pop(m));
		break;
	case OP_PRINT_TEXT:
		printf("%s\n", code->texts[now.operand]);
		break;
	default:
		b = pop(m);
		a = pop(m);
		push(m, calculate(now.operation, a, b));
	}
	return at + 1;
}

void run(const struct code *code)
{
	struct machine *m = calloc(1, sizeof *m);
	if (!m || !(m->variables = calloc(code->name_count + 1, sizeof *m->variables)))
		fail(0, "out of memory");
	for (size_t at = 0; code->items[at].operation != OP_STOP;)
		at = step(m, code, at);
	for (size_t i = 0; i < m->array_count; i++)
		free(m->arrays[i]);
	free(m->arrays);
	free(m->variables);
	free(m);
}
