module granary/bench/object

go 1.26.0

require (
	github.com/mlange-42/ark v0.4.0
	granary v0.0.0
)

require (
	github.com/google/pprof v0.0.0-20261105003125-4bf881d7fb0b // indirect
	golang.org/x/sys v0.50.0 // indirect
)

replace granary => ../..
