// Package kit is what the packages of tests that both compilers run share: what a test is, and the main function of
// the gccgo program that runs them. It keeps to Go 1.17, as they do.
package kit
