package main

import "strconv"

// reader makes values of text.
type reader struct {
	l    *lisp
	text string
	at   int
}

func isDelimiter(c byte) bool {
	return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '(' || c == ')' || c == ';' || c == '"' || c == '\''
}

// skip passes over blanks and comments, and reports whether something is left.
func (r *reader) skip() bool {
	for r.at < len(r.text) {
		switch c := r.text[r.at]; {
		case c == ';':
			for r.at < len(r.text) && r.text[r.at] != '\n' {
				r.at++
			}
		case c == ' ' || c == '\n' || c == '\t' || c == '\r':
			r.at++
		default:
			return true
		}
	}
	return false
}

// read is the next expression.
func (r *reader) read() value {
	if !r.skip() {
		fail("the text ends amid an expression")
	}
	switch c := r.text[r.at]; c {
	case '(':
		r.at++
		return r.readList()
	case ')':
		fail("a closing parenthesis too many")
	case '\'':
		r.at++
		l := r.l
		base := l.stack.Len()
		l.push(r.read())
		l.push(l.cons(l.stack.Top(0), null))
		quoted := l.cons(l.names.quote, l.stack.Top(0))
		l.stack.Truncate(base)
		return quoted
	case '"':
		return r.readString()
	}
	return r.readAtom()
}

// readList collects the elements on the stack.
func (r *reader) readList() value {
	l := r.l
	base := l.stack.Len()
	tail := value(null)
	for !r.closes() {
		if r.text[r.at] == '.' && r.at+1 < len(r.text) && isDelimiter(r.text[r.at+1]) {
			r.at++
			if tail = r.read(); !r.closes() {
				fail("more than one value behind a dot")
			}
			break
		}
		l.push(r.read())
	}
	list := l.listFrom(base, tail)
	l.stack.Truncate(base)
	return list
}

// closes passes over a closing parenthesis, if one is next.
func (r *reader) closes() bool {
	if !r.skip() {
		fail("a parenthesis is not closed")
	}
	if r.text[r.at] != ')' {
		return false
	}
	r.at++
	return true
}

// listFrom makes a list of what lies on the stack from a place on, which ends with tail.
func (l *lisp) listFrom(base int, tail value) value {
	end := l.stack.Len()
	l.push(tail)
	for i := end - 1; i >= base; i-- {
		l.stack.SetAt(end, l.cons(l.stack.At(i), l.stack.At(end)))
	}
	return l.stack.Pop()
}

func (r *reader) readString() value {
	start := r.at + 1
	for r.at = start; r.at < len(r.text) && r.text[r.at] != '"'; r.at++ {
	}
	if r.at == len(r.text) {
		fail("a string is not closed")
	}
	r.at++
	return r.l.newString(r.text[start : r.at-1])
}

func (r *reader) readAtom() value {
	start := r.at
	for r.at < len(r.text) && !isDelimiter(r.text[r.at]) {
		r.at++
	}
	word := r.text[start:r.at]
	if n, err := strconv.Atoi(word); err == nil {
		return checked(n)
	}
	switch word {
	case "#t":
		return truth
	case "#f":
		return falsehood
	}
	return r.l.intern(word)
}
