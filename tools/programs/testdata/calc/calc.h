/* A small language of numbers and arrays: read by the lexer, compiled to code for a stack machine,
   run by the machine. Everything that lives longer than a call comes from malloc. */
#ifndef CALC_H
#define CALC_H

#include <stddef.h>
#include <stdint.h>

enum token_kind {
	TOKEN_END, TOKEN_NUMBER, TOKEN_NAME, TOKEN_TEXT, TOKEN_LET, TOKEN_WHILE, TOKEN_IF, TOKEN_ELSE,
	TOKEN_PRINT, TOKEN_ARRAY, TOKEN_ASSIGN, TOKEN_EQUAL, TOKEN_LESS, TOKEN_PLUS, TOKEN_MINUS,
	TOKEN_TIMES, TOKEN_DIVIDE, TOKEN_REST, TOKEN_OPEN, TOKEN_CLOSE, TOKEN_BEGIN, TOKEN_FINISH,
	TOKEN_INDEX, TOKEN_INDEX_END, TOKEN_SEMICOLON
};

struct token {
	enum token_kind kind;
	int line;
	int64_t number;
	char *text; /* of a name or a text; owned by the token */
};

struct tokens {
	struct token *items;
	size_t count, room;
};

enum operation {
	OP_CONSTANT, OP_LOAD, OP_STORE, OP_ARRAY, OP_LOAD_AT, OP_STORE_AT, OP_ADD, OP_SUBTRACT,
	OP_MULTIPLY, OP_DIVIDE, OP_REST, OP_EQUAL, OP_LESS, OP_JUMP, OP_JUMP_IF_ZERO, OP_PRINT,
	OP_PRINT_TEXT, OP_STOP
};

struct instruction {
	enum operation operation;
	int64_t operand;
};

struct code {
	struct instruction *items;
	size_t count, room;
	char **names; /* of the variables, in the order of their slots */
	size_t name_count;
	char **texts;
	size_t text_count;
};

void *grow(void *items, size_t count, size_t *room, size_t size);
void fail(int line, const char *what);

struct tokens lex(const char *source);
void tokens_free(struct tokens *tokens);
struct code compile(const struct tokens *tokens);
void code_free(struct code *code);
void run(const struct code *code);

#endif
