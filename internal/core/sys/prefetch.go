package sys

// PrefetchedBytes is how much PrefetchBytes fetches: a few cache lines for the price of one call, and so few that no
// processor waits for them.
const PrefetchedBytes = 256
