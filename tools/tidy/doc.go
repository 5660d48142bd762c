// Package tidy enforces the house rules of this repository as tests; HACKING.md gives the reasons.
//
// The structures: file is one tracked file with what is known of it (parsed, if it is Go); rule is a function from a
// file, a package or the whole repository to violations; violation is a place and what is wrong there.
//
// The path of one run:
//
//  1. readRepository lists the tracked files (git ls-files, or a walk where there is no git) and parses the Go files.
//  2. Each test in tidy_test.go runs one rule over all files that it concerns and fails with every violation.
//  3. rules_test.go proves that each rule fires on a small file that breaks it, and not on one that keeps it.
//
// The rules: style.go has the ones for all files (gofmt, lengths, words), core.go those of the freestanding core
// (imports, layers, language, state), packages.go those of packages and of the options' documentation. An exception
// is a condition in the rule with its reason beside it; there is no list of tolerated violations.
package tidy
