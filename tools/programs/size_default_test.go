//go:build !programs

package programs

// fullSize chooses between the sizes that `make test` has time for and those of
// `make test-programs`.
const fullSize = false
