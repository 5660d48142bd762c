// Package gctest holds the tests of core package gc, written so that both compilers run them: see package coretest.
package gctest
