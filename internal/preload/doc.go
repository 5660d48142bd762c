// Package preload decides whether and how a program can be run on Granary.
//
//   - Options: the one table of what can be set, by flag and by environment variable.
//   - FindProgram, FindLibrary: which files are meant.
//   - Check: whether the dynamic loader will load the library into the program, or why not.
//   - Environment: the variables that the program is started with.
//
// The path of one run: find both files; follow the program's interpreters (#!) to an ELF file;
// compare that with the library; print what was found; build the environment; exec.
//
// Nothing here starts a program.
package preload
