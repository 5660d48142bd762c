#include "calc.h"

#include <stdlib.h>
#include <string.h>

struct compiler {
	const struct token *at;
	struct code code;
};

static void expression(struct compiler *c);
static void statement(struct compiler *c);

static size_t emit(struct compiler *c, enum operation operation, int64_t operand)
{
	struct code *code = &c->code;
	code->items = grow(code->items, code->count, &code->room, sizeof *code->items);
	code->items[code->count] = (struct instruction){operation, operand};
	return code->count++;
}

static int accept(struct compiler *c, enum token_kind kind)
{
	if (c->at->kind != kind)
		return 0;
	c->at++;
	return 1;
}

static void expect(struct compiler *c, enum token_kind kind, const char *what)
{
	if (!accept(c, kind))
		fail(c->at->line, what);
}

static int64_t slot(struct compiler *c, const char *name)
{
	struct code *code = &c->code;
	for (size_t i = 0; i < code->name_count; i++)
		if (!strcmp(code->names[i], name))
			return (int64_t)i;
	code->names = realloc(code->names, (code->name_count + 1) * sizeof *code->names);
	if (!code->names || !(code->names[code->name_count] = strdup(name)))
		fail(c->at->line, "out of memory");
	return (int64_t)code->name_count++;
}

static void primary(struct compiler *c)
{
	const struct token *token = c->at++;
	switch (token->kind) {
	case TOKEN_NUMBER:
		emit(c, OP_CONSTANT, token->number);
		break;
	case TOKEN_MINUS:
		emit(c, OP_CONSTANT, 0);
		primary(c);
		emit(c, OP_SUBTRACT, 0);
		break;
	case TOKEN_OPEN:
		expression(c);
		expect(c, TOKEN_CLOSE, "')' is missing");
		break;
	case TOKEN_ARRAY:
		expect(c, TOKEN_OPEN, "'(' is missing");
		expression(c);
		expect(c, TOKEN_CLOSE, "')' is missing");
		emit(c, OP_ARRAY, 0);
		break;
	case TOKEN_NAME:
		emit(c, OP_LOAD, slot(c, token->text));
		while (accept(c, TOKEN_INDEX)) {
			expression(c);
			expect(c, TOKEN_INDEX_END, "']' is missing");
			emit(c, OP_LOAD_AT, 0);
		}
		break;
	default:
		fail(token->line, "a value is missing");
	}
}

static const struct {
	enum token_kind kind;
	enum operation operation;
	int level;
} binary[] = {
	{TOKEN_EQUAL, OP_EQUAL, 0}, {TOKEN_LESS, OP_LESS, 0},
	{TOKEN_PLUS, OP_ADD, 1}, {TOKEN_MINUS, OP_SUBTRACT, 1},
	{TOKEN_TIMES, OP_MULTIPLY, 2}, {TOKEN_DIVIDE, OP_DIVIDE, 2}, {TOKEN_REST, OP_REST, 2},
};

static void operations(struct compiler *c, int level)
{
	if (level == 3) {
		primary(c);
		return;
	}
	operations(c, level + 1);
	for (size_t i = 0; i < sizeof binary / sizeof *binary; i++) {
		if (binary[i].level == level && accept(c, binary[i].kind)) {
			operations(c, level + 1);
			emit(c, binary[i].operation, 0);
			i = (size_t)-1;
		}
	}
}

static void expression(struct compiler *c)
{
	operations(c, 0);
}

static void block(struct compiler *c)
{
	expect(c, TOKEN_BEGIN, "'{' is missing");
	while (!accept(c, TOKEN_FINISH))
		statement(c);
}

static void print_statement(struct compiler *c)
{
	if (c->at->kind == TOKEN_TEXT) {
		struct code *code = &c->code;
		code->texts = realloc(code->texts, (code->text_count + 1) * sizeof *code->texts);
		if (!code->texts || !(code->texts[code->text_count] = strdup(c->at->text)))
			fail(c->at->line, "out of memory");
		emit(c, OP_PRINT_TEXT, (int64_t)code->text_count++);
		c->at++;
	} else {
		expression(c);
		emit(c, OP_PRINT, 0);
	}
	expect(c, TOKEN_SEMICOLON, "';' is missing");
}

static void assignment(struct compiler *c)
{
	const struct token *name = c->at++;
	if (name->kind != TOKEN_NAME)
		fail(name->line, "a statement is missing");
	int64_t variable = slot(c, name->text);
	if (accept(c, TOKEN_INDEX)) {
		emit(c, OP_LOAD, variable);
		expression(c);
		expect(c, TOKEN_INDEX_END, "']' is missing");
		expect(c, TOKEN_ASSIGN, "'=' is missing");
		expression(c);
		emit(c, OP_STORE_AT, 0);
	} else {
		expect(c, TOKEN_ASSIGN, "'=' is missing");
		expression(c);
		emit(c, OP_STORE, variable);
	}
	expect(c, TOKEN_SEMICOLON, "';' is missing");
}

static void statement(struct compiler *c)
{
	if (accept(c, TOKEN_WHILE)) {
		size_t start = c->code.count;
		expression(c);
		size_t leave = emit(c, OP_JUMP_IF_ZERO, 0);
		block(c);
		emit(c, OP_JUMP, (int64_t)start);
		c->code.items[leave].operand = (int64_t)c->code.count;
	} else if (accept(c, TOKEN_IF)) {
		expression(c);
		size_t otherwise = emit(c, OP_JUMP_IF_ZERO, 0);
		block(c);
		size_t leave = emit(c, OP_JUMP, 0);
		c->code.items[otherwise].operand = (int64_t)c->code.count;
		if (accept(c, TOKEN_ELSE))
			block(c);
		c->code.items[leave].operand = (int64_t)c->code.count;
	} else if (accept(c, TOKEN_PRINT)) {
		print_statement(c);
	} else {
		accept(c, TOKEN_LET);
		assignment(c);
	}
}

struct code compile(const struct tokens *tokens)
{
	struct compiler c = {.at = tokens->items};
	while (c.at->kind != TOKEN_END)
		statement(&c);
	emit(&c, OP_STOP, 0);
	return c.code;
}

void code_free(struct code *code)
{
	for (size_t i = 0; i < code->name_count; i++)
		free(code->names[i]);
	for (size_t i = 0; i < code->text_count; i++)
		free(code->texts[i]);
	free(code->names);
	free(code->texts);
	free(code->items);
	memset(code, 0, sizeof *code);
}
