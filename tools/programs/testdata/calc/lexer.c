#include "calc.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *word;
	enum token_kind kind;
} words[] = {
	{"let", TOKEN_LET}, {"while", TOKEN_WHILE}, {"if", TOKEN_IF},
	{"else", TOKEN_ELSE}, {"print", TOKEN_PRINT}, {"array", TOKEN_ARRAY},
};

static const struct {
	char sign;
	enum token_kind kind;
} signs[] = {
	{'<', TOKEN_LESS}, {'+', TOKEN_PLUS}, {'-', TOKEN_MINUS}, {'*', TOKEN_TIMES},
	{'/', TOKEN_DIVIDE}, {'%', TOKEN_REST}, {'(', TOKEN_OPEN}, {')', TOKEN_CLOSE},
	{'{', TOKEN_BEGIN}, {'}', TOKEN_FINISH}, {'[', TOKEN_INDEX}, {']', TOKEN_INDEX_END},
	{';', TOKEN_SEMICOLON},
};

static char *copy(const char *from, size_t length)
{
	char *text = malloc(length + 1);
	if (!text)
		fail(0, "out of memory");
	memcpy(text, from, length);
	text[length] = 0;
	return text;
}

static struct token *append(struct tokens *tokens, enum token_kind kind, int line)
{
	tokens->items = grow(tokens->items, tokens->count, &tokens->room, sizeof *tokens->items);
	struct token *token = &tokens->items[tokens->count++];
	memset(token, 0, sizeof *token);
	token->kind = kind;
	token->line = line;
	return token;
}

static const char *lex_word(struct tokens *tokens, const char *at, int line)
{
	const char *end = at;
	while (isalnum((unsigned char)*end) || *end == '_')
		end++;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		size_t length = strlen(words[i].word);
		if (length == (size_t)(end - at) && !memcmp(at, words[i].word, length)) {
			append(tokens, words[i].kind, line);
			return end;
		}
	}
	append(tokens, TOKEN_NAME, line)->text = copy(at, end - at);
	return end;
}

static const char *lex_sign(struct tokens *tokens, const char *at, int line)
{
	if (*at == '=') {
		int twice = at[1] == '=';
		append(tokens, twice ? TOKEN_EQUAL : TOKEN_ASSIGN, line);
		return at + 1 + twice;
	}
	for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
		if (signs[i].sign == *at) {
			append(tokens, signs[i].kind, line);
			return at + 1;
		}
	}
	fail(line, "unknown sign");
	return at;
}

struct tokens lex(const char *source)
{
	struct tokens tokens = {0};
	int line = 1;
	while (*source) {
		if (*source == '\n') {
			line++;
			source++;
		} else if (isspace((unsigned char)*source)) {
			source++;
		} else if (*source == '#') {
			source += strcspn(source, "\n");
		} else if (isdigit((unsigned char)*source)) {
			char *end;
			append(&tokens, TOKEN_NUMBER, line)->number = strtoll(source, &end, 10);
			source = end;
		} else if (isalpha((unsigned char)*source)) {
			source = lex_word(&tokens, source, line);
		} else if (*source == '"') {
			size_t length = strcspn(source + 1, "\"\n");
			append(&tokens, TOKEN_TEXT, line)->text = copy(source + 1, length);
			source += length + 2;
		} else {
			source = lex_sign(&tokens, source, line);
		}
	}
	append(&tokens, TOKEN_END, line);
	return tokens;
}

void tokens_free(struct tokens *tokens)
{
	for (size_t i = 0; i < tokens->count; i++)
		free(tokens->items[i].text);
	free(tokens->items);
	memset(tokens, 0, sizeof *tokens);
}
