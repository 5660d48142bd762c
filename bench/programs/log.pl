# What perl is given to do: log lines are made, taken apart with regular expressions, gathered in
# hashes of arrays of hashes and sorted. Call: log.pl SCALE_PERCENT. Prints sums that depend on
# every step and not on the order of keys.
use strict;
use warnings;
use integer;

my $scale = shift // 100;
my $state = 7;

sub below {
    my ($limit) = @_;
    $state = ($state * 1103515245 + 12345) & 0x7fffffff;
    return ($state >> 8) % $limit;
}

sub make_line {
    my ($number) = @_;
    my $path = join("/", map { "p" . below(90) } 1 .. 1 + below(6));
    return sprintf("10.%d.%d.%d - user%d [day %d] \"GET /%s HTTP/1.1\" %d %d",
        below(3), below(20), below(200), below(500), $number / 1000, $path,
        (200, 200, 200, 304, 404)[below(5)], below(90000));
}

my (%visits, %paths);
my $bytes = 0;
for my $number (1 .. 1100 * $scale) {
    my $line = make_line($number);
    next unless $line =~ m{^(\S+) - (\w+) \[([^\]]+)\] "GET (\S+) [^"]*" (\d+) (\d+)$};
    my ($address, $user, $day, $path, $status, $size) = ($1, $2, $3, $4, $5, $6);
    $bytes += $size;
    push @{ $visits{$user} },
        { address => $address, day => $day, path => $path, status => $status };
    $paths{$_}++ for split m{/}, $path;
    if (@{ $visits{$user} } > 150) {
        splice @{ $visits{$user} }, 0, 50;
    }
}

my $report = "";
for my $user (sort keys %visits) {
    my @sorted = sort { $a->{path} cmp $b->{path} || $a->{address} cmp $b->{address} }
        @{ $visits{$user} };
    $report .= join(",", $user, scalar(@sorted), $sorted[0]{path}, $sorted[-1]{path}) . "\n";
}
my $sum = 0;
$sum = ($sum * 31 + ord) & 0xffffffff for split //, $report;
print "$bytes ", scalar(keys %paths), " $sum\n";
